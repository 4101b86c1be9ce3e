"""Exact search: the DAG with the best decomposable score."""
