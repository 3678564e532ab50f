# The front door. `make help` lists what it offers; the work is done in dev/.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.PHONY: help up env down demo test test-unit test-integration test-e2e fuzz soak bench lint format generate verify \
        images tools openapi lock picture clean venv

PYTHON ?= python3
BIN := .venv/bin
ARGS ?=
FUZZ_S ?= 600
SOAK_S ?= 3600

# Variables of the local environment for one command
WITH_ENV = variables="$$($(PYTHON) dev/environment.py)" && eval "$$variables" &&

help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@/ { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z0-9-]+:.*## / { gsub(/\$$\$$/, "$$"); printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@printf '\nVariables\n'
	@printf '  %-23s %s\n' 'ARGS=...' 'passed on to pytest and to the demo, e.g. ARGS="-k placement" or ARGS=--keep' \
	  'ONAIR_CLUSTER' 'name of the cluster (onair)' \
	  'ONAIR_API_PORT' 'port of the HTTP API on this machine (8080)' \
	  'ONAIR_RTMP_PORT' 'port of the test receiver for RTMP (1935)' \
	  'ONAIR_HLS_PORT' 'port of the test receiver for HLS (8888)' \
	  'ONAIR_RTSP_PORT' 'port of the test receiver for RTSP (8554)' \
	  'ONAIR_MEDIAMTX_API_PORT' "port of the test receiver's own API (9997)" \
	  'ONAIR_REGISTRY_PORT' 'port of the local registry (5001)'

##@ Run it

up: ## Tools, images, a local cluster and the chart; seconds when they are there
	@$(PYTHON) dev/up.py

env: ## Print what a shell needs: eval "$$(make env)"
	@$(PYTHON) dev/environment.py

demo: venv ## Put a show on air and look at the picture (ARGS=--keep leaves it on)
	@$(PYTHON) dev/up.py --of 6
	@$(WITH_ENV) $(BIN)/python dev/demo.py $(ARGS)

down: ## Delete the cluster; images and tools stay
	@$(PYTHON) dev/cluster.py

##@ Test it

test: lint verify up ## Everything but the benchmarks
	@$(PYTHON) dev/tools.py control-plane
	@$(PYTHON) dev/servers.py
	@$(WITH_ENV) $(BIN)/pytest tests/unit tests/integration tests/soak tests/e2e $(ARGS)

test-unit: venv ## Pure functions and single programs
	@$(BIN)/pytest tests/unit $(ARGS)

test-integration: venv ## With a real API server, etcd, Redis and containers, without a cluster
	@$(PYTHON) dev/up.py --until images --of 2
	@$(PYTHON) dev/tools.py control-plane
	@$(PYTHON) dev/servers.py
	@$(BIN)/pytest tests/integration $(ARGS)

test-e2e: venv up ## Shows in the local cluster
	@$(WITH_ENV) $(BIN)/pytest tests/e2e $(ARGS)

fuzz: venv ## Made-up requests to every operation for FUZZ_S seconds (600)
	@$(PYTHON) dev/tools.py control-plane
	@ONAIR_FUZZ_S=$(FUZZ_S) $(BIN)/pytest tests/integration/api/test_fuzz.py tests/integration/api/event/test_stream_fuzz.py $(ARGS)
	@tail -n 25 build/fuzz/output.txt

soak: venv ## A show with four destinations, one of them flapping, for SOAK_S seconds (3600)
	@$(PYTHON) dev/up.py --until images --of 2
	@$(PYTHON) dev/servers.py
	@ONAIR_SOAK_S=$(SOAK_S) $(BIN)/pytest -s tests/soak $(ARGS)

bench: venv up ## Measure latency, capacity and cost in the local cluster
	@$(WITH_ENV) $(BIN)/pytest tests/bench $(ARGS)

lint: venv ## ruff, mypy and the direction of imports
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports >build/lint-imports.log 2>&1 || { cat build/lint-imports.log; exit 1; }
	@echo "lint     ruff, mypy and imports are fine"

verify: venv ## Check that generated files and lock files are fresh
	@mkdir -p build && rm -rf build/verify
	@$(BIN)/python -m onair_crds generate build/verify/manifests >/dev/null
	@diff -ru crds/manifests build/verify/manifests || { echo "crds/manifests is stale: run make generate"; exit 1; }
	@$(BIN)/python dev/chart_docs.py --check
	@$(PYTHON) dev/lock.py --check
	@echo "verify   generated files and lock files are fresh"

##@ Change it

format: venv ## Let ruff format and fix what it can
	@$(BIN)/ruff check --fix --quiet || true
	@$(BIN)/ruff format

generate: venv ## Write manifests from the models, and what the chart takes from elsewhere
	@$(BIN)/python -m onair_crds generate crds/manifests
	@$(BIN)/python dev/chart_docs.py

openapi: ## Write the OpenAPI document of the HTTP interface to standard output
	@$(MAKE) venv >&2
	@$(BIN)/python -m onair_api.document

lock: venv ## Pin and hash the Python packages (ARGS=--upgrade for the newest)
	@$(BIN)/python dev/lock.py $(ARGS)

picture: venv ## Draw the dashboard for the documentation from what the last soak measured
	@$(BIN)/python dev/dashboard_picture.py

images: ## Build the images whose inputs changed
	@$(PYTHON) dev/images.py

tools: ## Find or build kind, helm, kubectl, etcd, kube-apiserver and the servers of tests
	@$(PYTHON) dev/tools.py
	@$(PYTHON) dev/servers.py

clean: ## Delete the cluster, our images, the local registry and build/; tools stay
	@$(PYTHON) dev/cluster.py clean

venv:
	@mkdir -p build
	@$(PYTHON) dev/venv.py
