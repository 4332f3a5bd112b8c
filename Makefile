# make           build everything into .venv; then .venv/bin/hostnet works
# make demo      build, and reproduce the four quadrants; the last line is the path of the report
# make test      everything CI checks
# make test-all  that, and much hostile input; make test-all SEED=N repeats what it was
# make golden    compares about 80 runs with what they measured before, digit by digit
# make bench     speed of the simulator
# make validate  recompute the published results
#
# Needs Python 3.11 or later, stable Rust, a C compiler and make.

PYTHON ?= python3
TEST_PROCESSES ?= 2
SEED := $(or $(SEED),$(shell $(PYTHON) -c 'import random; print(random.randrange(2**32))'))
FUZZ_CASES ?= 20000
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
RUST_SOURCES := $(shell find crates specs -type f)
STUDIES := $(notdir $(wildcard studies/*))

export PYO3_PYTHON := $(CURDIR)/$(BIN)/python

.PHONY: build demo test test-all fuzz check-rust check-python golden bench validate all clean lock
.DEFAULT_GOAL := build

build: $(VENV)/built

$(VENV)/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "$(PYTHON) is older than Python 3.11; name a newer one: make PYTHON=python3.12" >&2; exit 1; }
	@cargo --version > /dev/null || { echo "cargo is missing: install stable Rust from https://rustup.rs" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/locked: requirements.lock $(VENV)/created
	$(PIP) install --require-hashes --requirement requirements.lock
	@touch $@

$(VENV)/locked-dev: requirements-dev.lock $(VENV)/locked
	$(PIP) install --require-hashes --requirement requirements-dev.lock
	@touch $@

$(VENV)/built: $(VENV)/locked $(RUST_SOURCES) Cargo.toml Cargo.lock pyproject.toml
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --locked
	@touch $@

demo: build
	@$(BIN)/hostnet demo

test: check-rust check-python

test-all: test fuzz

fuzz: build $(VENV)/locked-dev
	@echo "make fuzz SEED=$(SEED)"
	PROPTEST_CASES=$(FUZZ_CASES) cargo test --profile checked --package hostnet-config --locked --test fuzz --test cluster_fuzz
	$(BIN)/pytest tests/fuzz --numprocesses $(TEST_PROCESSES) --hypothesis-profile many --hypothesis-seed $(SEED)

check-rust: $(VENV)/created
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo test --profile checked --workspace --exclude hostnet-python --locked

check-python: build $(VENV)/locked-dev
	$(BIN)/ruff format --check python tests examples
	$(BIN)/ruff check python tests examples
	$(BIN)/mypy
	$(BIN)/stubtest hostnet._core --mypy-config-file pyproject.toml
	$(BIN)/pytest --numprocesses $(TEST_PROCESSES)

golden: build
	@$(BIN)/python -m tests.golden --processes $(TEST_PROCESSES)

bench:
	cargo run --release --locked --package hostnet-bench

validate: build
	@for study in $(STUDIES); do $(BIN)/hostnet validate $$study || exit 1; done

all: test

clean:
	rm -rf $(VENV) target python/hostnet/_core*.so .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find python tests -name __pycache__ -type d -prune -exec rm -rf {} +

# Needs uv (https://docs.astral.sh/uv).
lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
		--custom-compile-command "make lock" --output-file requirements.lock pyproject.toml --group build
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --extra dev \
		--custom-compile-command "make lock" --constraint requirements.lock --output-file requirements-dev.lock pyproject.toml
