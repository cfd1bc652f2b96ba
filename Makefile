# Each target installs what it needs into a virtual environment of this folder, once, and again when pyproject.toml changes.
# To use a Python other than python3: make test PYTHON=/path/to/python3.13

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
ARGS ?=

# At most four workers: most of the time is spent on compiling kernels, and while one worker compiles what others need,
# they wait for it. Each begins with its own part of the list, so that this is rare, and finally helps the others.
PYTEST := $(BIN)/python -m pytest -n auto --maxprocesses=4 --dist=worksteal

# Python must cache its bytecode: without it every process reads all sources again, and every worker of the tests rewrites
# all of their assertions, which takes longer than collecting the tests.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo playground test test-deep check format coverage test-uncompiled export-all torture bench run-bench ticks exported databases docs new-agent clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.has-report ## compare the agents on a generated map, and run a crowd on it; writes out/demo.html
	@$(BIN)/andante demo --out out/demo.html $(ARGS)

PLAYED := src/andante/play/static

playground: $(PLAYED)/page.html $(PLAYED)/engine.bin ## build the playground, which `andante play` writes; needs Node 20 or newer (AGENTS="lrta tba" for a small one)

$(PLAYED)/page.html: $(shell find playground -path playground/node_modules -prune -o -path playground/dist -prune -o -type f -print) src/andante/report/static/draw.js src/andante/report/static/colours.css
	@command -v npm >/dev/null || { echo "the playground is built with Node 20 or newer, and npm is not installed; everything else works without it" >&2; exit 1; }
	cd playground && npm ci --no-audit --no-fund && npm run check && npm run build
	@mkdir -p $(PLAYED)
	cp playground/dist/index.html $@

$(PLAYED)/engine.bin: $(shell find src/andante -name "*.py" -o -path "*/export/templates/*" -type f) | $(VENV)/.has-export
	@mkdir -p $(PLAYED)
	$(BIN)/python -m andante.play.engine $@ $(AGENTS)

test: $(VENV)/.has-test ## run the tests (ARGS="-k lrta" for a part of them; FULL=1 with those that take seconds each, as CI does)
	$(if $(FULL),ANDANTE_FULL_TESTS=1) $(PYTEST) $(ARGS)

test-deep: $(VENV)/.has-test ## run them with thirty-two times as many examples, new ones each time, and tests that take too long for every day
	ANDANTE_DEEP_TESTS=1 $(PYTEST) $(ARGS)

check: $(VENV)/.has-check ## ruff, mypy and the layers of the package
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(VENV)/.has-check ## let ruff lay out the code and fix what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

coverage: ## run the suite and fail if less than 90 % of the Python code was run
	@$(MAKE) --no-print-directory test ARGS="--cov $(ARGS)"

test-uncompiled: $(VENV)/.has-test ## run the tests that are fast enough without the compiler, with kernels as plain Python
	NUMBA_DISABLE_JIT=1 $(PYTEST) tests -m "not compiled" $(ARGS)

export-all: $(VENV)/.has-test ## export every algorithm, and compare its walks in C and WebAssembly with those in Python; takes minutes
	ANDANTE_DEEP_TESTS=1 $(PYTEST) tests/export $(ARGS)

torture: $(VENV)/.has-test ## damaged inputs, kills and random graphs at full length: hours (ARGS="inputs maps --size 1000")
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m tests.torture $(ARGS)

# The peers are installed in a separate environment, because some need old or unusual packages.
bench: ## measure speed side by side with other packages; writes benchmarks/latest.md
	@$(MAKE) --no-print-directory run-bench VENV=.venv-bench

run-bench: $(VENV)/.has-bench
	@$(MAKE) --no-print-directory $(VENV)/.has-bench-source \
		|| echo "w9-pathfinding could not be built here (it needs a C++ compiler): the table is made without it"
	$(BIN)/python -m benchmarks $(ARGS)

ticks: $(VENV)/.has-report ## measure how well 10,000 ticks of a crowd keep to a budget of 2 ms; writes benchmarks/ticks.md and docs/images/ticks.svg
	$(BIN)/python -m benchmarks.ticks $(ARGS)

exported: $(VENV)/.has-test ## measure all agents as C libraries and as WebAssembly; writes benchmarks/exported.md
	$(BIN)/python -m benchmarks.exported $(ARGS)

databases: $(VENV)/.has-report ## measure databases on maps of four games, except those already measured; writes docs/how-to/databases.md
	$(BIN)/python tools/databases.py $(ARGS)

docs: $(VENV)/.has-docs ## build the documentation into site/; fails on any warning
	$(BIN)/python tools/reference.py
	$(BIN)/python tools/architecture.py
	$(BIN)/python tools/published.py
	$(BIN)/python tools/site_pages.py
	$(BIN)/zensical build --clean --strict
	$(BIN)/python tools/front_page.py site

new-agent: ## write the skeleton of a new algorithm (name=my_algorithm)
	@$(PYTHON) tools/new_agent.py "$(name)"

clean: ## remove all generated files, including the virtual environments
	find src tests tools benchmarks -name __pycache__ -prune -exec rm -rf {} +
	rm -rf playground/node_modules playground/dist $(PLAYED) .venv .venv-bench .cache .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache out site

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Andante needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) --version 2>/dev/null || echo "not there"); choose another with PYTHON=/path/to/python3.11" >&2; \
		exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.has-%: pyproject.toml | $(VENV)/.made
	@echo "setting up $(VENV) for $*, once"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -e ".[$*]"
	@touch $@
