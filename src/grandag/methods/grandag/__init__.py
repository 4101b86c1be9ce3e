"""GraN-DAG: one module per stage."""
