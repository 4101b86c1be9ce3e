"""RANDOM: a random graph, whatever the data."""
