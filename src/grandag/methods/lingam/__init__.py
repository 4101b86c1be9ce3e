"""LiNGAM: linear, with noise that is not Gaussian."""
