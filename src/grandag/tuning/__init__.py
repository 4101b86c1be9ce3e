"""Hyper-parameter search for users."""
