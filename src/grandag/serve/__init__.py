"""The workbench in the browser: look at a table, learn, doubt, forbid, learn again, compare."""
