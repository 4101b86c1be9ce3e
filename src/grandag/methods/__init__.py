"""One estimator per method, one base and one registry."""
