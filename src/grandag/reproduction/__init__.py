"""The paper's tables and figure: what is run, how, and what came of it."""
