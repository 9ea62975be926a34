# Everything runs in .venv in this checkout; it is made when missing and renewed when the pins change.
SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
# The first Python >= 3.11 found; PYTHON=... overrides it.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' && { echo $$p; break; }; done)

.DEFAULT_GOAL := help
.PHONY: help venv demo test check fmt bench drill litellm clean

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(VENV)/.stamp: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "no Python >= 3.11 found; install one or run: make PYTHON=/path/to/python3" >&2; exit 1; }
	@test -x $(BIN)/pip || { rm -rf $(VENV); $(PYTHON) -m venv $(VENV); }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[engine,dev]'
	@touch $@

venv: $(VENV)/.stamp  ## make or renew .venv

demo: $(VENV)/.stamp  ## the main job on a conversation that the repository carries
	$(BIN)/memoranda demo

test: $(VENV)/.stamp  ## the tests, without slow and drill
	$(BIN)/python -m pytest -n 2 $(ARGS)

check: $(VENV)/.stamp  ## format, lint, types, layers, shape, generated files: what CI checks
	$(BIN)/ruff format --check --output-format concise .
	$(BIN)/ruff check .
	$(BIN)/mypy src tests tools bench
	$(BIN)/lint-imports
	$(BIN)/python -m tools.shape
	$(BIN)/python -m tools.generate_async --check
	$(BIN)/python -m tools.generate_reference --check

fmt: $(VENV)/.stamp  ## format, fix what can be fixed, generate AsyncMemory and the reference
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/python -m tools.generate_async
	$(BIN)/python -m tools.generate_reference

bench: $(VENV)/.stamp  ## speed, as ratios within one run
	$(BIN)/python -m bench $(ARGS)

litellm: $(VENV)/.stamp  ## the tests of what providers do through litellm, which it installs (355 MB)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[litellm]'
	MEMORANDA_TEST_LITELLM=1 $(BIN)/python -m pytest tests/providers -W default $(ARGS)

drill: $(VENV)/.stamp  ## long destructive runs: kill, fork, contention
	$(BIN)/python -m pytest -m drill --timeout 3600 $(ARGS)

clean:  ## remove the environment and what tools left
	rm -rf $(VENV) .venv-conformance build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage .coverage.*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
