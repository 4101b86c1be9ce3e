"""Programs for those who work on the library, run from the project's folder: `python -m tools.document_parameters`."""
