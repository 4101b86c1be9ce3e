"""The workbench in the browser: a table, its fits, what is known, and what comes of it."""
