"""NOTEARS: linear, by continuous optimisation."""
