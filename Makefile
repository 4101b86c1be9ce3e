# Everything runs in the project's own environment; nothing has to be installed or activated by hand.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test test-slow lint format bench accuracy confidence docs clean

demo: $(READY)
	$(BIN)/grandag fit sachs --seed 1 --output demo --report demo/report.html

test: $(READY) lint
	$(BIN)/python -m pytest -n auto

test-slow: $(READY)
	$(BIN)/python -m pytest -m slow -n auto

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/fit_time.py
	$(BIN)/python benchmarks/neighbours.py
	$(BIN)/python benchmarks/additive.py
	$(BIN)/python benchmarks/metrics.py
	$(BIN)/python benchmarks/baselines.py
	$(BIN)/python benchmarks/equivalence.py
	$(BIN)/python benchmarks/simulation.py
	$(BIN)/python benchmarks/concerns.py
	$(BIN)/python benchmarks/generalised_score.py

confidence: $(READY)
	$(BIN)/python benchmarks/confidence.py

docs: $(READY)
	$(BIN)/mkdocs build --strict

accuracy: $(READY)
	$(BIN)/python benchmarks/accuracy.py

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev,parquet]'
	touch $@

clean:
	rm -rf $(VENV) demo site
