# graphmem: every task a developer or a new user needs, one target each. `make help` lists them.
#
#   make serve REPO=~/src/django      install what is missing, index that repository, serve it
#   make test                         install what is missing, run the tests
#
# Needs Linux, Python 3.11 or newer with its venv module, and make. npm is used for the query page when it is there.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory -j2  # the query page is built while packages are installed

PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3 python; do \
	if $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo $$name; break; fi; done)
VENV ?= .venv
# What installs torch, for the extra `models`: the CPU build is tried first, which is 200 MB to download where CUDA takes 3 GB.
# TORCH="torch" takes what the registry gives, TORCH="" leaves torch to you.
TORCH ?= torch==2.13.0
REPO ?=
PORT ?=
ARGS ?=
# Two processes more than processors: many tests wait for servers and browsers. With one process more, a fifth of the processor time was idle.
WORKERS ?= $(shell echo $$(($$(nproc) + 2)))

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Compiling the 14,000 modules of torch and the others is two thirds of the time of an install; Python compiles those that are used when
# they are, unless the environment forbids it.
unexport PYTHONDONTWRITEBYTECODE
INSTALL := $(PIP) install -qq --no-compile
PINS := requirements/constraints.txt
QUICK := $(addprefix tests/,analysis answers parsing projection reports resolution runtime search) --ignore tests/analysis/semantic \
	$(addprefix tests/docs/,test_architecture.py test_circles.py test_english.py test_paths.py test_traps.py)
PAGE := graphmem/api/static/graphiql/index.html
CHECKED := $(if $(filter serve,$(MAKECMDGOALS)),named)
PAGE_SOURCES := $(wildcard web/package.json web/package-lock.json web/*.mjs web/src/*)

##@ Use it

.PHONY: serve
serve: named $(VENV)/.stamp-runtime page  ## index a repository and serve it: make serve REPO=<path>
	@exec $(BIN)/graphmem serve "$(patsubst ~/%,$(HOME)/%,$(REPO))" $(if $(PORT),--port $(PORT)) $(ARGS)

.PHONY: named
named:
	@if [ -z "$(REPO)" ]; then echo "Say which repository: make serve REPO=<path>" >&2; exit 2; fi

##@ Develop

.PHONY: setup
setup: $(VENV)/.stamp-dev page  ## create .venv with everything to develop

.PHONY: test
test: $(VENV)/.stamp-dev page  ## run the tests in WORKERS processes; ARGS="-k impact" passes options to pytest
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

.PHONY: quick
quick: $(VENV)/.stamp-dev  ## run the tests of the rooms without a database or a server
	@$(BIN)/python -m pytest -q -n auto --dist loadfile -m "not slow" $(QUICK) $(ARGS)

.PHONY: affected
affected: $(VENV)/.stamp-dev  ## run the tests that graphmem says your changes affect; ARGS="main --all" for a base and all of them
	@$(BIN)/python tests/affected.py $(ARGS)

.PHONY: check
check: $(VENV)/.stamp-dev  ## lint, format, types and English, changing nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tests/docs/english.py

.PHONY: fmt
fmt: $(VENV)/.stamp-dev  ## format and repair what can be repaired
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: reference
reference: $(VENV)/.stamp-dev  ## write queries/schema.graphql and docs/reference from the declarations
	$(BIN)/python -m graphmem.api.sdl > $(VENV)/schema.graphql
	mv $(VENV)/schema.graphql queries/schema.graphql
	$(BIN)/python -m graphmem.cli.reference

.PHONY: bench
bench: $(VENV)/.stamp-dev  ## run a benchmark, or list them; see benchmarks/README.md
	@$(BIN)/python -m benchmarks $(ARGS)

.PHONY: page
page: $(PAGE)  ## build the query page with npm, if npm is there

.PHONY: build
build: $(VENV)/.stamp-dev page  ## build the wheel and the source distribution into dist/
	rm -rf dist
	$(BIN)/python -m build

.PHONY: vscode
vscode:  ## pack the extension for VS Code with npm into web/vscode/dist/graphmem.vsix
	@npm --prefix web/vscode ci --silent --no-audit --no-fund
	@npm --prefix web/vscode run --silent pack

.PHONY: pins
pins: $(VENV)/.stamp-dev  ## write requirements/constraints.txt from what is installed
	@$(BIN)/python requirements/pins.py > $(PINS).new && mv $(PINS).new $(PINS) && echo "$(PINS) written"

.PHONY: clean
clean:  ## remove .venv and everything that was built
	rm -rf $(VENV) build dist graphmem/api/static .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

.PHONY: help
help:  ## this list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

# ---- what the targets stand on: each stamp is newer than what it was made of, so a second run does nothing

$(VENV)/.stamp-venv: | $(CHECKED)
	@if [ -z "$(PYTHON)" ]; then echo "graphmem needs Python 3.11 or newer; name it with PYTHON=<path>" >&2; exit 1; fi
	@echo "creating $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV) || { echo "Python's venv module is missing; on Debian it is the package python3-venv" >&2; exit 1; }
	@$(PIP) install -qq --upgrade "pip>=25.1"
	@touch $@

$(VENV)/.stamp-torch: $(VENV)/.stamp-venv
ifneq ($(TORCH),)
	@if $(BIN)/python -c 'import importlib.metadata as m; m.version("torch")' 2>/dev/null; then :; \
	elif [ "$(TORCH)" = "torch==2.13.0" ] && $(INSTALL) "$(TORCH)+cpu" 2>/dev/null; then echo "installed $(TORCH)+cpu"; \
	else echo "installing $(TORCH)"; $(INSTALL) "$(TORCH)"; fi
endif
	@touch $@

$(VENV)/.stamp-runtime: $(VENV)/.stamp-torch pyproject.toml $(PINS)
	@echo "installing graphmem and what it needs into $(VENV); this takes a minute"
	@$(INSTALL) -c $(PINS) -e ".[models,lsp,organisation]"
	@$(BIN)/python -m compileall -q graphmem  # pip compiles what it copies, and this stays where it is
	@touch $@

$(VENV)/.stamp-dev: $(VENV)/.stamp-runtime
	@echo "installing what the tests need"
	@$(INSTALL) -c $(PINS) --group dev
	@touch $@

$(PAGE): $(PAGE_SOURCES) | $(CHECKED)
	@if ! command -v npm >/dev/null; then echo "npm is not there: /graphql will show no query page, everything else works"; \
	elif npm --prefix web ci --silent --no-audit --no-fund && npm --prefix web run --silent build && [ -f $@ ]; then touch $@; \
	else echo "the query page could not be built: /graphql will say so, everything else works" >&2; fi
