# Each target makes what it needs, in .venv, and is quick when nothing has changed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Modules are compiled by what first imports them, and kept for all others: most of what is installed is never imported.
INSTALL := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --no-compile --editable
unexport PYTHONDONTWRITEBYTECODE
# MJCF files of real robots for tests; the code of that package, with all that it needs (JAX), is not used.
MODELS := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --no-compile --no-deps 'playground>=0.2'

BROWSERS := chromium chromium-browser google-chrome google-chrome-stable

.PHONY: install demo papers readme test docs outputs measured check check-python check-player check-player-with-npm bench player browser clean
.NOTPARALLEL: # the stamps below install into one environment

install: $(VENV)/.demo
	@echo "installed: $(BIN)/tailwork"

demo: $(VENV)/.demo # one page: a real robot with three tails of equal mass and length, and the motions of the 2020 paper
	$(BIN)/tailwork demo --out demo

readme: $(VENV)/.docs # runs all code and commands of the README, in an empty folder
	folder=$$(mktemp -d) && $(BIN)/python docs/_ext/session.py README.md $$folder/run >/dev/null; ended=$$?; \
	rm -rf "$$folder"; exit $$ended

papers: $(VENV)/.demo # the papers' own experiments, their numbers beside ours
	for paper in liu2018 liu2020 nelson-quinn biswal; do $(BIN)/tailwork reproduce $$paper >/dev/null || exit 1; done
	@echo "written: reproduction-*/report.html"

test: $(VENV)/.test browser
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal -q -rs

docs: $(VENV)/.docs # runs the code of all pages and of the gallery; warnings are errors
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx --quiet --jobs 2 --fail-on-warning --keep-going docs docs/_build/html
	@echo "built: docs/_build/html/index.html"

outputs: $(VENV)/.docs # writes what the code on pages prints below it; the build of the site checks it
	OPENBLAS_NUM_THREADS=1 $(BIN)/python docs/_ext/outputs.py

measured: # keeps what the last session of all tests has measured, for a site that is built without one
	cp .measured.json benchmarks/results/measured.json

check: check-python check-player

check-python: $(VENV)/.check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

bench: $(VENV)/.bench # with all the engines that it compares with
	$(BIN)/python -m benchmarks --json benchmarks/results/engine.json

player: player/node_modules/.ready # builds the page that plays runs into the package; a test fails where that is old
	cd player && npm run --silent build

check-player:
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory check-player-with-npm; \
	else echo "no npm on this machine: types and tests of the player were skipped"; fi

check-player-with-npm: player/node_modules/.ready
	cd player && npm run --silent check && npm test --silent

player/node_modules/.ready: player/package.json player/package-lock.json
	cd player && npm ci --silent --no-audit --no-fund
	@touch $@

# Tests of pages need a browser. Where there is none, Debian's is installed if we may; else they are skipped.
browser:
	@for name in $(BROWSERS); do command -v $$name >/dev/null && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "tests of pages need a browser: installing chromium"; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium \
			>/dev/null || echo "chromium could not be installed: tests of pages will be skipped"; \
	else \
		echo "no browser ($(BROWSERS)) and no right to install one: tests of pages will be skipped"; \
	fi

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis player/node_modules docs/_build docs/_ran docs/auto_gallery

$(VENV)/.created: # a new pip takes half the time of an old one; where there is none to be had, the old one will do
	$(PYTHON) -m venv $(VENV)
	-$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --upgrade pip
	@touch $@

$(VENV)/.demo: pyproject.toml $(VENV)/.created
	$(INSTALL) .
	@touch $@

$(VENV)/.test: pyproject.toml $(VENV)/.created
	$(INSTALL) '.[test]'
	$(MODELS)
	@touch $@

$(VENV)/.docs: pyproject.toml $(VENV)/.created
	$(INSTALL) '.[test,docs]'
	$(MODELS)
	@touch $@

$(VENV)/.bench: pyproject.toml $(VENV)/.created
	$(INSTALL) '.[test,bench]'
	$(MODELS)
	@touch $@

$(VENV)/.check: pyproject.toml $(VENV)/.created
	$(INSTALL) '.[check]'
	@touch $@

$(VENV)/.all: pyproject.toml $(VENV)/.created # what `make check`, `make test` and `make docs` need, at once
	$(INSTALL) '.[check,test,docs]'
	$(MODELS)
	@touch $(VENV)/.demo $(VENV)/.check $(VENV)/.test $(VENV)/.docs $@
