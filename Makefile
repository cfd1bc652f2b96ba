# Each target installs what it needs into a virtual environment of this folder, once, and again when pyproject.toml changes.
# Another Python than python3: make test PYTHON=/path/to/python3.13

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
ARGS ?=

# At most four workers: most of the time goes into compiling kernels, and while one worker compiles what others need, they
# wait for it. Each begins with a part of the list of its own, so that this is rare, and helps the others in the end.
PYTEST := $(BIN)/python -m pytest -n auto --maxprocesses=4 --dist=worksteal

# Python keeps its bytecode, whatever the environment says: without it every process reads all sources again, and every
# worker of the tests rewrites all of their assertions, which takes longer than finding the tests.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo playground test test-deep check format coverage test-uncompiled export-all torture bench run-bench ticks exported databases docs new-agent clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.has-report ## compare the agents on a generated map, and let a crowd walk over it; writes out/demo.html
	@$(BIN)/andante demo --out out/demo.html $(ARGS)

PLAYED := src/andante/play/static

playground: $(PLAYED)/page.html $(PLAYED)/engine.bin ## build the playground, which `andante play` writes; needs Node 20 or newer (AGENTS="lrta tba" for a small one)

$(PLAYED)/page.html: $(shell find playground -path playground/node_modules -prune -o -path playground/dist -prune -o -type f -print) src/andante/report/static/draw.js src/andante/report/static/colours.css
	@command -v npm >/dev/null || { echo "the playground is built with Node 20 or newer, and there is no npm here; everything else works without it" >&2; exit 1; }
	cd playground && npm ci --no-audit --no-fund && npm run check && npm run build
	@mkdir -p $(PLAYED)
	cp playground/dist/index.html $@

$(PLAYED)/engine.bin: $(shell find src/andante -name "*.py" -o -path "*/export/templates/*" -type f) | $(VENV)/.has-export
	@mkdir -p $(PLAYED)
	$(BIN)/python -m andante.play.engine $@ $(AGENTS)

test: $(VENV)/.has-test ## run the tests (ARGS="-k lrta" for a part of them; FULL=1 with those that take seconds each, as CI does)
	$(if $(FULL),ANDANTE_FULL_TESTS=1) $(PYTEST) $(ARGS)

test-deep: $(VENV)/.has-test ## run it with thirty-two times as many examples, new ones each time, and what takes too long for every day
	ANDANTE_DEEP_TESTS=1 $(PYTEST) $(ARGS)

check: $(VENV)/.has-check ## ruff, mypy and the layers of the package
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(VENV)/.has-check ## let ruff lay out the code and mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

coverage: ## run the suite and fail if less than 90 % of the Python code was run
	@$(MAKE) --no-print-directory test ARGS="--cov $(ARGS)"

test-uncompiled: $(VENV)/.has-test ## run what can be run in good time without the compiler: kernels as plain Python
	NUMBA_DISABLE_JIT=1 $(PYTEST) tests -m "not compiled" $(ARGS)

export-all: $(VENV)/.has-test ## export every algorithm, and compare its walks in C and WebAssembly with those in Python; takes minutes
	ANDANTE_DEEP_TESTS=1 $(PYTEST) tests/export $(ARGS)

torture: $(VENV)/.has-test ## damaged inputs, kills and random graphs at full length: hours (ARGS="inputs maps --size 1000")
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m tests.torture $(ARGS)

# The peers live in an environment of their own: some bring old or odd companions.
bench: ## measure speed side by side with other packages; writes benchmarks/latest.md
	@$(MAKE) --no-print-directory run-bench VENV=.venv-bench

run-bench: $(VENV)/.has-bench
	@$(MAKE) --no-print-directory $(VENV)/.has-bench-source \
		|| echo "w9-pathfinding could not be built here (it needs a C++ compiler): the table goes without it"
	$(BIN)/python -m benchmarks $(ARGS)

ticks: $(VENV)/.has-report ## measure how well 10,000 ticks of a crowd keep to 2 ms; writes benchmarks/ticks.md and docs/images/ticks.svg
	$(BIN)/python -m benchmarks.ticks $(ARGS)

exported: $(VENV)/.has-test ## measure all agents as C libraries and as WebAssembly; writes benchmarks/exported.md
	$(BIN)/python -m benchmarks.exported $(ARGS)

databases: $(VENV)/.has-report ## measure databases on maps of four games, those that are not measured yet; writes docs/how-to/databases.md
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

clean: ## remove all that was made here, the virtual environments too
	find src tests tools benchmarks -name __pycache__ -prune -exec rm -rf {} +
	rm -rf playground/node_modules playground/dist $(PLAYED) .venv .venv-bench .cache .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache out site

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Andante needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) --version 2>/dev/null || echo "not there"); name another with PYTHON=/path/to/python3.11" >&2; \
		exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.has-%: pyproject.toml | $(VENV)/.made
	@echo "setting up $(VENV) for $*, once"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -e ".[$*]"
	@touch $@
