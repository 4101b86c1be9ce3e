"""The paper's experiments: what each table and figure consists of, its jobs, their results, and ours beside theirs."""
