# What CI runs. A machine with Python 3.11 and make is enough: the first target that
# needs it makes .venv and installs everything there, again whenever pyproject.toml
# changes.

VENV := .venv
PY := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed
WORKERS ?= 2

# The first interpreter that starts and has a version we support; PYTHON=... decides.
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13 python; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
	2>/dev/null && echo $$p && break; done)

export KERAS_BACKEND := tensorflow
export TF_CPP_MIN_LOG_LEVEL ?= 3

.PHONY: demo test test-all trials proofs check format api bench bench-docs bench-joeynmt install \
	chromium clean

demo: install  ## trains on dates, draws the attention, exports: a minute
	$(PY) examples/demo.py

test: install chromium  ## the default suite: a slice of the full product, about 7 minutes
	$(PY) -m pytest -q -n $(WORKERS) --dist worksteal --durations 20 --durations-min 5

test-all: install chromium  ## everything
	$(PY) -m pytest -q -n $(WORKERS) --dist worksteal --all

trials: install  ## kills and full disks, in real processes: about two hours, live output
	$(PY) -m pytest -s -v -m trial --trials $(TRIALS)

proofs: install  ## every encoder in front of every decoder: about 15 minutes
	$(PY) -m pytest -q -n $(WORKERS) --dist worksteal --proofs tests/proofs

check: install  ## lint, format, import contracts, API surface, texts
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(VENV)/bin/lint-imports --no-logo --no-cache  # a stale cache sees old imports
	$(PY) -m keras_seqattn.testing.api --check
	$(PY) -m tools.prose

format: install
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

api: install  ## rewrite keras_seqattn/api.txt
	$(PY) -m keras_seqattn.testing.api --write

bench: install  ## at most 90 minutes on two cores; a second call continues
	-$(PY) -m benchmarks.operations
	$(PY) -m benchmarks.run

bench-docs: install  ## tables and plots of docs/benchmarks.md, from the last results
	$(PY) -m benchmarks.docs

bench-joeynmt:  ## an environment for JoeyNMT, whose protobuf is not TensorFlow's
	$(PYTHON) -m venv .venv-joeynmt
	.venv-joeynmt/bin/pip install -q --disable-pip-version-check 'torch>=2.13,<2.14' \
		numpy setuptools pyyaml sentencepiece subword-nmt sacrebleu sacremoses \
		matplotlib packaging importlib_metadata tqdm tensorboard
	.venv-joeynmt/bin/pip install -q --disable-pip-version-check --no-deps joeynmt==2.3.0

chromium:  ## for the tests of the TensorBoard tab; prints how to install it by hand
	@tools/install_chromium.sh

install: $(INSTALLED)

$(INSTALLED): pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 to 3.13 not found. Received none on PATH: install one, or name it with make PYTHON=..."; exit 1; }
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV) (the first time takes minutes)"
	@$(PY) -m pip install -qq --disable-pip-version-check -e '.[test]'
	@touch $@

clean:  ## caches and build output; the environment stays (rm -r .venv removes it)
	rm -rf build dist .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
