# Everything runs in the project's own environment; nothing has to be installed or activated by hand.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
INTEROP := .venv-interop
LOWEST := .venv-lowest
OTHER_PYTHONS ?= python3.12 python3.13
SDCD := .venv-sdcd

.PHONY: demo test test-slow fuzz test-interop test-lowest test-pythons lint format generate pictures bench bench-scale bench-lingam bench-gies bench-exact bench-sdcd accuracy generality stability held-out confidence tables docs package clean

demo: $(READY)
	$(BIN)/grandag fit sachs --seed 1 --output demo --report demo/report.html

test: $(READY) lint
	$(BIN)/python -m pytest -n auto

# Files that nobody meant, in full; a part of it is in the suite.
fuzz: $(READY)
	$(BIN)/python -m pytest tests/fuzz -m "slow or not slow" -n auto

test-slow: $(READY)
	$(BIN)/python -m pytest -m slow -n auto

# Real round trips with dowhy, pgmpy, causal-learn and lingam, which bring older versions of what we build on: they have an
# environment of their own. A package that is missing there is a failure. What other packages warn of is not ours.
test-interop: $(INTEROP)/.ready
	$(INTEROP)/bin/python -m pytest tests/interop -W ignore

# Something of every dependency, with the lowest versions that pyproject.toml allows; what old packages warn of is not ours.
test-lowest: $(LOWEST)/.ready
	$(LOWEST)/bin/python -m pytest tests/test_lowest_versions.py tests/engine/test_compiled.py -o filterwarnings=ignore

# Other versions of Python, which have to be installed, find the graphs that are stored in tests/reference.
test-pythons: $(OTHER_PYTHONS:%=.venv-%/.ready)
	for python in $(OTHER_PYTHONS); do .venv-$$python/bin/python -m pytest tests/methods/test_stored_graphs.py || exit 1; done

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
	$(BIN)/python benchmarks/families.py
	$(BIN)/python benchmarks/metrics.py
	$(BIN)/python benchmarks/baselines.py
	$(BIN)/python benchmarks/equivalence.py
	$(BIN)/python benchmarks/exact.py
	$(BIN)/python benchmarks/noise_models.py
	$(BIN)/python benchmarks/fges.py --sizes 50 1000
	$(BIN)/python benchmarks/simulation.py
	$(BIN)/python benchmarks/concerns.py
	$(BIN)/python benchmarks/large_graphs.py
	$(BIN)/python benchmarks/generalised_score.py
	$(BIN)/python benchmarks/evidence_speed.py

# Many variables: about an hour.
bench-scale: $(READY)
	$(BIN)/python benchmarks/scale.py

# LiNGAM and RESIT beside the package lingam, in the environment of test-interop.
bench-lingam: $(INTEROP)/.ready
	$(INTEROP)/bin/python benchmarks/lingam_package.py

# GES with interventions beside the package gies, in the same environment.
bench-gies: $(INTEROP)/.ready
	$(INTEROP)/bin/python -m pip install --quiet --no-compile gies
	$(INTEROP)/bin/python benchmarks/gies_package.py

# Exact search beside causal-learn's, in the same environment.
bench-exact: $(INTEROP)/.ready
	$(INTEROP)/bin/python benchmarks/exact.py --variables 10 12

# Beside the package sdcd, which brings older versions of what we build on: it has an environment of its own. Hours.
bench-sdcd: $(READY) $(SDCD)/.ready
	$(BIN)/python benchmarks/sdcd.py --nodes 50 --methods default fast CAM --package
	$(BIN)/python benchmarks/sdcd.py --nodes 100

confidence: $(READY)
	$(BIN)/python benchmarks/confidence.py

# The parts of the documentation that are made from the code, or by running it; tests fail when they are out of date.
generate: demo
	$(BIN)/python -m tools.document_parameters
	$(BIN)/python -m tools.document_commands
	$(BIN)/python -m tools.draw_architecture
	$(BIN)/python -m tools.run_tutorial
	$(BIN)/python -m tools.paper_tables --list
	cp demo/graph.svg docs/sachs.svg

# A page of docs/tables for each table of the paper; hours in all, and it goes on where it was stopped. TABLES="table1 table8"
# runs these alone, AUTHORS=DIR those of the authors' files, too.
tables: $(READY)
	$(BIN)/python -m tools.paper_tables $(TABLES) $(if $(AUTHORS),--authors $(AUTHORS))

# Pictures of the workbench, from a walk through it in Chromium.
pictures: $(READY)
	$(BIN)/python -m tools.picture_workbench

# Wheel and source distribution in dist/; the wheel, without extras, then proves itself in an environment of its own.
package: $(READY)
	$(BIN)/python -m tools.check_package

docs: $(READY)
	$(BIN)/mkdocs build --strict

# Held-out likelihood of every method on small tables.
held-out: $(READY)
	$(BIN)/python benchmarks/held_out.py

accuracy: $(READY)
	$(BIN)/python benchmarks/accuracy.py

# AUTHORS=DIR takes SynTReN's data sets from the authors' files.
generality: $(READY)
	$(BIN)/python benchmarks/generality.py $(if $(AUTHORS),--authors $(AUTHORS))

stability: $(READY)
	$(BIN)/python benchmarks/stability.py

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev,parquet]'
	touch $@

$(INTEROP)/.ready: pyproject.toml
	$(PYTHON) -m venv $(INTEROP)
	$(INTEROP)/bin/python -m pip install --quiet --no-compile --editable '.[interop]'
	touch $@

$(LOWEST)/.ready: pyproject.toml
	$(PYTHON) -m venv $(LOWEST)
	$(PYTHON) -m tools.lowest_versions cluster parquet png serve tune > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --no-compile --constraint $(LOWEST)/constraints.txt \
		--editable '.[cluster,parquet,png,serve,tune]' hypothesis polars pytest
	touch $@

# torch first, for the CPU alone; setuptools, because the release of wandb that sdcd wants imports pkg_resources.
$(SDCD)/.ready:
	$(PYTHON) -m venv $(SDCD)
	$(SDCD)/bin/python -m pip install --quiet --no-compile torch==2.13.0
	$(SDCD)/bin/python -m pip install --quiet --no-compile sdcd==0.1.4 'setuptools<81'
	touch $@

# With the versions of packages that .venv has: rounding in others may decide about weak edges.
.venv-python%/.ready: pyproject.toml $(READY)
	python$* -m venv .venv-python$*
	$(BIN)/python -m pip freeze --exclude-editable > .venv-python$*/constraints.txt
	.venv-python$*/bin/python -m pip install --quiet --no-compile --constraint .venv-python$*/constraints.txt \
		--editable . hypothesis pytest
	touch $@

clean:
	rm -rf $(VENV) $(INTEROP) $(LOWEST) .venv-python* $(SDCD) demo dist site
