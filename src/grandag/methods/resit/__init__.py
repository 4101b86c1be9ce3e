"""RESIT: regression with subsequent independence test."""
