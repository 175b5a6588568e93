# memflame: `make run` starts it, `make test` tests it; both install what is missing on Debian 12.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

HOST ?= 127.0.0.1
PORT ?= 8000
VENV := .venv
PY := $(VENV)/bin/python
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
DATA := $(abspath $(or $(MEMFLAME_DATA),var))

# Ends a recipe that has gathered the missing Debian packages in the shell variable `missing`.
define install_missing
	[ -z "$$missing" ] || { \
	  command -v apt-get >/dev/null || { echo "memflame: missing, and this is not Debian:$$missing" >&2; exit 1; }; \
	  echo "memflame: installing$$missing"; \
	  $(SUDO) apt-get update -qq; \
	  $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
	}
endef

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /|/' | while IFS='|' read -r name about; do printf '  make %-12s %s\n' "$$name" "$$about"; done

.PHONY: run
run: setup ## start site, worker, sweep and agent, with a demo project (PORT=8000 HOST=127.0.0.1)
	@exec $(PY) manage.py up --host "$(HOST)" --port "$(PORT)"

.PHONY: setup
setup: packages $(VENV)/site.stamp $(DATA)/demo/leaky_service ## install what `make run` needs; the command line is .venv/bin/memflame

.PHONY: packages
packages:
	@missing=""; \
	/usr/bin/python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=" python3 python3-venv"; \
	/usr/bin/python3 -c 'import bcc' 2>/dev/null || missing+=" python3-bpfcc"; \
	/sbin/ldconfig -p | grep -q 'libdw\.so\.1' || missing+=" libdw1"; \
	{ command -v gcc && [ -e /usr/include/stdio.h ]; } >/dev/null || missing+=" gcc libc6-dev"; \
	$(install_missing)

# The venv sees Debian's bcc through one link and nothing else of the system, so every version is ours.
$(VENV)/bin/python:
	/usr/bin/python3 -m venv $(VENV)
	ln -sfn "$$(/usr/bin/python3 -c 'import bcc, pathlib; print(pathlib.Path(bcc.__file__).parent)')" "$$(echo $(VENV)/lib/python3.*/site-packages)/bcc"

$(VENV)/site.stamp: requirements/site.txt tracer/pyproject.toml | $(VENV)/bin/python
	$(PY) -m pip install -q --disable-pip-version-check --require-hashes -r requirements/site.txt
	$(PY) -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e tracer
	@touch $@

$(VENV)/dev.stamp: requirements/dev.txt $(VENV)/site.stamp
	$(PY) -m pip install -q --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

$(DATA)/demo/leaky_service: webapp/runs/demo/leaky_service.c
	@mkdir -p $(@D)
	gcc -O1 -g -fno-omit-frame-pointer -o $@ $< -pthread

.PHONY: test-setup
test-setup: setup
	@missing=""; \
	command -v g++ >/dev/null || missing+=" g++"; \
	for library in jemalloc2:jemalloc.so.2 google-perftools4:tcmalloc.so.4 tcmalloc-minimal4:tcmalloc_minimal.so.4 mimalloc2.0:mimalloc.so.2; do \
	  /sbin/ldconfig -p | grep -q "lib$${library#*:}" || missing+=" lib$${library%:*}"; \
	done; \
	command -v musl-gcc >/dev/null || missing+=" musl-tools"; \
	command -v rustc >/dev/null || missing+=" rustc"; \
	command -v curl >/dev/null || missing+=" curl"; \
	command -v perf >/dev/null || missing+=" linux-perf"; \
	command -v chromium >/dev/null || missing+=" chromium fonts-dejavu-core"; \
	node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' 2>/dev/null || missing+=" nodejs"; \
	command -v npm >/dev/null || missing+=" npm"; \
	command -v redis-server >/dev/null || missing+=" redis-server"; \
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing+=" postgresql"; \
	command -v docker-compose >/dev/null || missing+=" docker-compose"; \
	$(install_missing)
	@$(MAKE) --no-print-directory $(VENV)/dev.stamp tests/peers/node_modules/.package-lock.json

tests/peers/node_modules/.package-lock.json: tests/peers/package-lock.json
	cd tests/peers && npm ci --ignore-scripts --no-audit --no-fund --silent
	@touch $@

.PHONY: lint
lint: test-setup ## ruff, mypy --strict, import-linter
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports --no-logo

.PHONY: test
test: lint ## everything: lint, node --test, pytest (unit, web, eBPF, browser, services)
	node --test tests/frontend/*.test.mjs
	@$(MAKE) -s -C tests/programs
	@status=0; $(if $(PYTEST),$(RUN_PYTEST) $(PYTEST) || status=$$?,$(BOTH_HALVES)); $(GIVE_BACK) exit $$status

RUN_PYTEST = $(AS_ROOT) $(PY) -m pytest
# Tests that trace wait for the kernel and for programs most of their time, so the others run beside them. Those
# with services, and some of the browser's, go with them: then both halves take as long.
FIRST_HALF = ebpf or services or first_half
define BOTH_HALVES
	first=$$(mktemp); $(RUN_PYTEST) -m "$(FIRST_HALF)" >$$first 2>&1 & running=$$!; \
	$(RUN_PYTEST) -m "not ($(FIRST_HALF))" || status=$$?; \
	wait $$running || status=$$?; echo "== tests that trace, and others of that half"; cat $$first; rm $$first
endef

.PHONY: screenshots
screenshots: test-setup ## make the pictures of the documents again, with the tests' browser
	@mkdir -p docs/img
	MEMFLAME_PICTURES=docs/img $(PY) -m pytest -q tests/browser/test_main_job.py -k person

# eBPF needs root. What the tests leave in the checkout is given back to the user who ran them.
AS_ROOT := $(if $(SUDO),sudo env "PATH=$(PATH):/usr/sbin:/sbin" "CI=$(CI)" PYTHONDONTWRITEBYTECODE=1,)
GIVE_BACK := $(if $(SUDO),sudo chown -R "$$(id -u):$$(id -g)" tests .pytest_cache .hypothesis 2>/dev/null || true;,)

# inferno's program `flamegraph` and Debian's jeprof are peers of the benchmarks, nothing of ours.
$(VENV)/bench.stamp: requirements/bench.txt $(VENV)/dev.stamp
	$(PY) -m pip install -q --disable-pip-version-check --require-hashes -r requirements/bench.txt
	@touch $@

# Viewers of other projects. Without them the site's own page is measured alone.
tests/benchmarks/peers/node_modules/.package-lock.json: tests/benchmarks/peers/package-lock.json
	-cd tests/benchmarks/peers && npm ci --ignore-scripts --legacy-peer-deps --no-audit --no-fund --silent

.PHONY: bench
bench: test-setup $(VENV)/bench.stamp tests/benchmarks/peers/node_modules/.package-lock.json ## benchmarks: ratios against a peer in the same run; never fails
	@missing=""; command -v jeprof >/dev/null || missing+=" libjemalloc-dev"; command -v addr2line >/dev/null || missing+=" binutils"; $(install_missing)
	@export PYTHONPATH="$(CURDIR)" PATH="$(CURDIR)/$(VENV)/bin:$$PATH"; \
	for file in tests/benchmarks/bench_*.py; do echo "== $$file"; $(PY) "$$file" || echo "   did not finish"; done
	@for file in tests/benchmarks/bench_*.mjs; do [ ! -e "$$file" ] || { echo "== $$file"; node "$$file" || echo "   did not finish"; }; done

.PHONY: vendor
vendor: ## fetch and build the vendored front-end files again (needs npm and the network)
	cd frontend/vendor && npm ci --no-audit --no-fund && node vendor.mjs

.PHONY: lock
lock: ## write requirements/*.txt again from requirements/*.in (needs uv)
	cd requirements && for set in agent site dev bench; do uv pip compile -q --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate $$set.in -o $$set.txt; done

.PHONY: clean
clean: ## remove the virtual environment and built test programs; runs in var/ stay
	rm -rf $(VENV) tests/programs/build .mypy_cache .ruff_cache .pytest_cache .hypothesis
