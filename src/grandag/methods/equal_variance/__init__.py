"""Linear models whose noises all have the same variance."""
