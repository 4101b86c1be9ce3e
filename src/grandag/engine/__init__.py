"""The compiled numerics of the neural part: arrays in, arrays out, nothing of graphs as results."""
