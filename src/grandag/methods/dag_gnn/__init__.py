"""DAG-GNN: a variational autoencoder."""
