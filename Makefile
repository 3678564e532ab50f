# The front door. `make help` lists what it offers; the work is done in dev/onair_dev.
SHELL := /bin/bash
# Set in many a container: each program that a test starts would compile all that it imports
unexport PYTHONDONTWRITEBYTECODE
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.PHONY: help up env down demo test test-unit test-integration test-e2e fuzz schedules soak bench lint format generate verify proto-release \
        images refresh sbom scan tools openapi lock picture clean venv ready-demo ready-test

PYTHON ?= python3
BIN := .venv/bin
ARGS ?=
FUZZ_S ?= 600
SCHEDULES ?= 20
SOAK_S ?= 3600
TEST_SOAK_S ?= 60
TEST_WORKERS ?= 3

# Finds or installs the programs and Python packages of a command, before anything long starts
READY = PYTHONPATH=dev $(PYTHON) -m onair_dev.bootstrap
DEV = $(BIN)/python -m onair_dev
# With the programs that were found or built; --cluster adds the variables of the local cluster
RUN = $(DEV) run
PYTEST = $(BIN)/python -m pytest
# Files side by side, two of them with browsers, encoders or shows at the most; what takes from the others runs alone
WORKERS = --numprocesses=$(TEST_WORKERS) --dist=loadfile --no-loadscope-reorder

help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@/ { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z0-9-]+:.*## / { gsub(/\$$\$$/, "$$"); printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@printf '\nVariables\n'
	@printf '  %-23s %s\n' 'ARGS=...' 'passed on to pytest and to the demo, e.g. ARGS="-k placement" or ARGS=--scene' \
	  'ONAIR_CLUSTER' 'name of the cluster (onair)' \
	  'ONAIR_API_PORT' 'port of the HTTP API on this machine (8080)' \
	  'ONAIR_RTMP_PORT' 'port of the test receiver for RTMP (1935)' \
	  'ONAIR_HLS_PORT' 'port of the test receiver for HLS (8888)' \
	  'ONAIR_INGEST_RTMP_PORT' 'port that sources are pushed to by RTMP (1936)' \
	  'ONAIR_INGEST_SRT_PORT' 'port that sources are pushed to by SRT (8890)' \
	  'ONAIR_RTSP_PORT' 'port of the test receiver for RTSP (8554)' \
	  'ONAIR_MEDIAMTX_API_PORT' "port of the test receiver's own API (9997)" \
	  'ONAIR_REGISTRY_PORT' 'port of the local registry (5001)'

##@ Run it

up: ready-demo ## Tools, images, a local cluster and the chart; seconds when they are there
	@$(DEV) up

env: ## Print what a shell needs: eval "$$(make env)"
	@$(DEV) env

demo: ready-demo ## Put a show on air and look at the picture (ARGS=--keep leaves it on)
	@$(DEV) prepare demo
	@$(DEV) demo $(ARGS)

down: venv ## Delete the cluster; images and tools stay
	@$(DEV) down

##@ Test it

test: ready-test lint verify ## Everything but the benchmarks
	@$(DEV) prepare test
	@ONAIR_SOAK_S=$(TEST_SOAK_S) $(RUN) --cluster $(PYTEST) $(WORKERS) --durations=15 --durations-min=10 tests/unit tests/integration tests/soak tests/e2e $(ARGS)

test-unit: venv ## Pure functions and single programs; seconds
	@$(PYTEST) tests/unit $(ARGS)

test-integration: ready-test ## With a real API server, etcd, Redis and containers, without a cluster
	@$(DEV) prepare integration
	@$(RUN) $(PYTEST) $(WORKERS) tests/integration $(ARGS)

test-e2e: ready-test ## Shows in the local cluster
	@$(DEV) prepare test
	@$(RUN) --cluster $(PYTEST) $(WORKERS) tests/e2e $(ARGS)

fuzz: ready-test ## Generated requests to every operation for FUZZ_S seconds (600), and what parsers may meet
	@$(DEV) prepare integration
	@ONAIR_FUZZ_S=$(FUZZ_S) $(RUN) $(PYTEST) tests/unit tests/integration/api -m fuzz $(ARGS)
	@tail -n 25 build/fuzz/output.txt

schedules: ready-test ## Random schedules of commands and faults, SCHEDULES of them (20)
	@$(DEV) prepare test
	@ONAIR_SCHEDULES=$(SCHEDULES) $(RUN) $(PYTEST) -s tests/integration/test_interleavings.py $(ARGS)

soak: ready-test ## A show with four destinations, one of them flapping, for SOAK_S seconds (3600)
	@$(DEV) prepare soak
	@ONAIR_SOAK_S=$(SOAK_S) $(RUN) $(PYTEST) -s tests/soak $(ARGS)

bench: ready-test ## Measure latency, capacity and cost in the local cluster
	@$(DEV) prepare bench
	@$(RUN) --cluster $(PYTEST) tests/bench $(ARGS)

lint: venv ## ruff, mypy and the direction of imports
	@$(BIN)/ruff check --quiet; \
	$(BIN)/ruff format --check --quiet; \
	$(BIN)/mypy --no-error-summary; \
	$(BIN)/lint-imports >build/lint-imports.log 2>&1 || { cat build/lint-imports.log; exit 1; }; \
	echo "lint     ruff, mypy and imports are fine: $$SECONDS s"

verify: venv ## Check that generated files and lock files are fresh
	@mkdir -p build && rm -rf build/verify; \
	$(BIN)/python -m onair_crds generate build/verify/manifests >/dev/null; \
	diff -ru crds/manifests build/verify/manifests || { echo "crds/manifests is stale: run make generate"; exit 1; }; \
	$(DEV) chart --check; \
	$(DEV) protos --check; \
	$(DEV) lock --check; \
	echo "verify   generated files and lock files are fresh: $$SECONDS s"

##@ Change it

format: venv ## Let ruff format and fix what it can
	@$(BIN)/ruff check --fix --quiet || true
	@$(BIN)/ruff format

generate: venv ## Write manifests from the models, what the chart takes from elsewhere, compiled .proto files
	@$(BIN)/python -m onair_crds generate crds/manifests
	@$(DEV) chart
	@$(DEV) protos

proto-release: venv ## Compare later changes of the .proto files with what they say now
	@$(DEV) protos --release

openapi: ## Write the OpenAPI document of the HTTP interface to standard output
	@$(MAKE) venv >&2
	@$(BIN)/python -m onair_api.document

lock: venv ## Pin and hash the Python packages (ARGS=--upgrade for the newest)
	@$(DEV) lock $(ARGS)

picture: venv ## Draw the dashboard for the documentation from what the last soak measured
	@$(DEV) picture

images: ready-demo ## Build the images whose inputs changed
	@$(DEV) images

refresh: ready-demo ## Rebuild the images with the newest Debian packages, Chromium among them
	@$(DEV) refresh

sbom: images ## Write what is in each image to build/bills-of-materials (CycloneDX)
	@$(DEV) sbom

scan: images ## List packages of the images that Debian has security updates for; fails where there are some
	@$(DEV) scan

tools: ready-test ## Find or build kind, helm, kubectl, etcd, kube-apiserver and the servers of tests
	@$(DEV) tools

clean: venv ## Delete the cluster, our images, an unused local registry and build/; tools stay
	@$(DEV) clean

venv:
	@mkdir -p build
	@$(READY) venv

ready-demo ready-test:
	@mkdir -p build
	@$(READY) $(@:ready-%=%)
