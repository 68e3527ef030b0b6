# Two commands to know: `make demo` and `make test`. Both prepare .venv first.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: help setup demo test test-bounds test-clusters coverage fuzz check docs release-check bench wheel clean

help:  ## list what can be made
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 17

setup: .venv/installed  ## create .venv, install phist with everything it can use, compile its code by a small fit

.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "phist needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) --version). Try: make $(MAKECMDGOALS) PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[all,dev]'
	$(BIN)/python -c 'from phist import StructuralClassifier as Model; from phist.graphs.generate import make_trees; Model().fit(make_trees(20, 8, seed=0))'
	@touch $@

demo: setup  ## fit a model, hold it against the floors and draw what it learnt, in about a minute
	$(BIN)/phist demo --out phist-demo

test: setup  ## run all tests, in as many processes as there are cores
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile

test-bounds: setup  ## run the tests of the engine with every index of compiled code checked
	PHIST_CHECK_BOUNDS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile tests/engine

test-clusters: setup  ## run the tests that start Ray, Dask, Spark and torchrun on this machine, those of them that are installed
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m clusters tests/scale tests/cli

coverage: setup  ## run all tests and say which lines they miss; takes half as long again as `make test`
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile --cov=phist --cov-report=term:skip-covered

fuzz: setup  ## try N random inputs (100,000 by default) and count what is mishandled
	PYTHONPATH=tests/fuzz:tests/helpers $(BIN)/python -m fuzzing $(or $(N),100000)

check: setup  ## formatting, lint, types and the import contract
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: setup  ## build the site into docs/_build, offline; a warning is an error
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	$(BIN)/python -m sphinx -b html -W --keep-going -q docs docs/_build
	$(BIN)/python docs/_ext/check_links.py docs/_build

release-check: setup  ## build sdist and wheel, install the wheel into a clean environment, fit and use a model there
	$(BIN)/python -m pip install --quiet --constraint constraints.txt build hatchling
	PYTHON=$(BIN)/python .ci/release-check

bench: setup  ## measure reading, start-up and the engine
	$(BIN)/python benchmarks/reading.py
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/engine.py all --markdown benchmarks/results/engine.md --figure docs/images/engine-scaling.png
	$(BIN)/python benchmarks/engine.py one-thread --markdown benchmarks/results/one_thread.md

wheel: setup  ## build a wheel with portable code for this system, Python and Numba, in dist
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .

clean:  ## remove what can be made again
	rm -rf .venv phist-demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
