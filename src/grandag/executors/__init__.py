"""Independent jobs: here, in processes of this machine, or on the workers of a Dask cluster, with the same results."""

from __future__ import annotations

from grandag.executors.calls import Failure
from grandag.executors.cluster import ClusterError, ClusterLostError, cluster_size
from grandag.executors.executor import Executor, open_executor

__all__ = ["ClusterError", "ClusterLostError", "Executor", "Failure", "cluster_size", "open_executor"]
