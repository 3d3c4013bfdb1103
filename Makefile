# Three commands do everything: `make demo`, `make pretrained` and `make test`. Each target makes its own environment when there is none.
PYTHON ?= python3
VENV ?= .venv
EXTRAS ?= dev
BIN := $(VENV)/bin
# What is installed is a stamp in the environment, so that a target installs its extras only once.
INSTALLED := $(VENV)/.kolmo-installed-
STAMP := $(INSTALLED)$(EXTRAS)
TRAIN := $(INSTALLED)train,report

.PHONY: demo pretrained test check docs fmt

demo: $(TRAIN)
	$(BIN)/kolmo train quickstart

# A language model that people know: 93 MB once, then REINFORCE on two CPU cores.
pretrained: $(TRAIN)
	$(BIN)/kolmo model get smollm2
	$(BIN)/kolmo train arithmetic

# Three processes for two cores (tests/conftest.py), each of which computes in one thread.
test: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal

check: $(STAMP)
	$(BIN)/ruff check
	$(BIN)/mypy
	MYPYPATH=kolmocli/sandbox/wire:sandbox_image $(BIN)/mypy --config-file= --strict sandbox_image/*.py sandbox_image/native/*.py

# The site, in build/site. A page that is not in its menu, or a link that leads nowhere, fails.
docs: $(if $(findstring docs,$(EXTRAS)),$(STAMP),$(INSTALLED)docs)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict -f docs/site/mkdocs.yml

fmt: $(STAMP)
	$(BIN)/ruff check --fix-only --quiet
	$(BIN)/ruff format

# The stamp is written last, so that a broken installation is tried again. The pip that comes with an older Python takes twice the time
# to resolve. pip would compile 20,000 files on one core. What few runs import is left to the run that does. A file that is no Python of
# this version, such as a template, stays as it is.
$(INSTALLED)%: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "kolmo needs Python 3.11 or newer: make PYTHON=python3.12")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt --upgrade pip
	$(BIN)/python -m pip install --quiet --no-compile -c constraints.txt -e ".[$*]"
	$(BIN)/python -W ignore -m compileall -qq -j 0 -x '/tests?/|/testing/|/transformers/models/' $(VENV)/lib || true
	touch $@
