# Each target makes what it needs, in .venv, and is quick when nothing has changed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --editable

.PHONY: demo test check bench clean
.NOTPARALLEL: # the stamps below install into one environment

demo: $(VENV)/.demo
	$(BIN)/tailwork compare --out comparison

test: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 --dist worksteal -q

check: $(VENV)/.check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

bench: $(VENV)/.bench # with all the engines that it compares with
	$(BIN)/tailwork bench --json benchmarks/engine.json

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis

$(VENV)/.created:
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.demo: pyproject.toml $(VENV)/.created
	$(INSTALL) .
	@touch $@

$(VENV)/.test: pyproject.toml $(VENV)/.created
	$(INSTALL) '.[test]'
	@touch $@

$(VENV)/.bench: pyproject.toml $(VENV)/.created
	$(INSTALL) '.[test,bench]'
	@touch $@

$(VENV)/.check: pyproject.toml $(VENV)/.created
	$(INSTALL) '.[check]'
	@touch $@
