# `make run` and `make test` do everything; `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# Compiled modules are kept: `make test` starts some hundred Python processes.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup run test quick style types sdk bench audit lock clean

help: ## List the targets
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## Create .venv and install the locked dependencies

PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps
LOCKED = --no-build-isolation --require-hashes -r requirements.lock

$(STAMP): pyproject.toml requirements.lock deploy/build.lock
	@test -e $@ || deploy/system_packages.sh $(PYTHON)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Waylink needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.11"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "Python has no venv module; on Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	@echo "Installing the locked dependencies ..."
	@$(PIP) --require-hashes -r deploy/build.lock
	@# uv is quicker than pip, but does not know an index that only pip's configuration names.
	@# Of all these modules few are ever imported, and are compiled then, but for one that Python would warn of.
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps $(LOCKED) || \
	  { echo "Installing them with pip instead ..."; $(PIP) --no-compile $(LOCKED); }
	@$(BIN)/python -W ignore -m compileall -q $(VENV)/lib/*/site-packages/geoip2fast
	@PYTHONWARNINGS=ignore $(PIP) --no-build-isolation --editable .
	@touch $@

run: setup ## Start MongoDB, the service and the demo site; OPTIONS=--without-history leaves its past out
	@$(BIN)/python -m demo_site $(OPTIONS)

test: setup ## Check style and types, run every test
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@# Types are checked beside the tests, which leave a processor idle at first. What is wrong is told at once, and
	@# again at the end. The tests are compiled before they run: once for all of their processes.
	@mkdir -p build; \
	  { $(MAKE) --no-print-directory types >build/types.log 2>&1 || { cat build/types.log; false; }; } & types=$$!; \
	  $(BIN)/python -m tests.browser_setup & browsers=$$!; \
	  $(BIN)/python -m tests.npm_setup & packages=$$!; \
	  $(BIN)/pytest --collect-only --quiet >/dev/null 2>&1; \
	  status=0; wait $$browsers || status=$$?; wait $$packages || status=$$?; \
	  [ $$status != 0 ] || \
	    $(BIN)/pytest --numprocesses=auto --maxprocesses=4 --dist=loadgroup --no-loadscope-reorder || status=$$?; \
	  wait $$types || status=$$?; cat build/types.log; exit $$status

quick: setup ## Check style, types, and the tests of what differs from main: some 20 s, for while you work
	@$(BIN)/ruff check . && $(BIN)/ruff format --check --quiet . && $(BIN)/mypy
	@$(BIN)/pytest --quiet $$($(BIN)/python -m tests.of_changes)

style: setup ## Check style, and say what to change
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: setup ## Check types
	@$(BIN)/mypy && $(BIN)/mypy --config-file sdk_src/mypy.ini && $(BIN)/mypy --config-file app_sdk_src/mypy.ini

sdk: setup ## Build sdk_dist/ and app_sdk_dist/ from sdk_src/ and app_sdk_src/
	@$(BIN)/python -m sdk_build

# A year of clicks and sales, made once; give other amounts another folder.
YEAR = --data build/bench/year

bench: setup ## Measure the service and the browser SDK on this machine
	@command -v wrk >/dev/null || apt-get install -y -qq wrk || echo "Install wrk for the benchmark of redirects"
	@$(BIN)/python -m benchmarks.redirects
	@$(BIN)/python -m benchmarks.redirect_time
	@$(BIN)/python -m benchmarks.clicks
	@$(BIN)/python -m benchmarks.click_ids
	@$(BIN)/python -m benchmarks.limited_links
	@$(BIN)/python -m benchmarks.link_rules
	@$(BIN)/python -m benchmarks.redirect_memory
	@$(BIN)/python -m benchmarks.link_numbers
	@$(BIN)/pytest -q -s --long tests/faults/one_server/test_outage.py
	@$(BIN)/python -m benchmarks.ingest
	@$(BIN)/python -m benchmarks.feed
	@$(BIN)/python -m benchmarks.webhooks
	@$(BIN)/python -m benchmarks.link_creation
	@$(BIN)/python -m benchmarks.rate_limits
	@$(BIN)/python -m benchmarks.workers
	@$(BIN)/python -m benchmarks.sdk
	@$(BIN)/python -m benchmarks.analytics_query $(YEAR)
	@$(BIN)/python -m benchmarks.analytics $(YEAR)
	@$(BIN)/python -m benchmarks.credit $(YEAR)
	@$(BIN)/python -m benchmarks.credit --links 0 --clicks 0 --sales 1000000 --only "customer, linear" \
	  --data build/bench/sales
	@$(BIN)/python -m benchmarks.many_organizations --clicks 1000000 --minutes 5
	@$(BIN)/python -m benchmarks.erased_bytes --links 10000 --clicks 2000000 --sales 40000
	@$(BIN)/python -m benchmarks.dashboard_pages
	@$(BIN)/python -m benchmarks.dashboard_pages --links 40000 --clicks 5000000 --sales 100000 $(YEAR)
	@$(BIN)/python -m benchmarks.command_line

audit: setup ## Look the locked dependencies up in the public lists of vulnerabilities
	@test -x $(VENV)/audit/bin/pip-audit || { $(PYTHON) -m venv $(VENV)/audit && \
	  $(VENV)/audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit; }
	@$(BIN)/python -m deploy.audit

LOCK = $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header \
  --no-emit-index-url --no-emit-find-links --quiet

lock: setup ## Renew requirements.lock, and those of the image in deploy/, from pyproject.toml
	@$(LOCK) pyproject.toml --all-extras --group dev --upgrade -o requirements.lock
	@$(LOCK) pyproject.toml --extra postgres --constraint requirements.lock -o deploy/requirements.lock
	@$(LOCK) --group build --constraint requirements.lock -o deploy/build.lock

clean: ## Remove what setup and tests made; data/ stays
	@rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache test-results
