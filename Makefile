# make demo   sets itself up, runs the main job from end to end, shows the results
# make test   sets itself up (a browser included), runs all checks and tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check browser format screenshots clean

demo: $(VENV)/.server
	$(BIN)/python examples/demo.py

test: $(VENV)/.dev browser check
	$(BIN)/python -m pytest -n 2 --dist loadfile

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

browser:
	sh tests/install_browser.sh

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.server: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[server]'
	touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@ $(VENV)/.server

screenshots: $(VENV)/.dev browser
	$(BIN)/python examples/screenshots.py

clean:
	rm -rf $(VENV) demo dist
