# make           build everything into .venv; then .venv/bin/hostnet works
# make demo      build, and reproduce the four quadrants; the last line is the path of the report
# make dev       build with all assertions, as single tests need: slower; make restores the fast build
# make test      run all checks of CI
# make test-all  make test, the long tests, hostile input, and the playground; make test-all SEED=N repeats the input of a run
# make fuzz      hostile input, and campaigns over hundreds of random servers: planted limits, regimes, steady states
# make golden    compare about 80 runs with their recorded results, digit by digit
# make docs      build the documentation site into site/html, offline; make docs-serve shows it on http://127.0.0.1:8000
# make mpi       build, and install the packages for `mpirun -n 2 .venv/bin/hostnet run cluster.toml`
# make notebooks execute the notebooks of examples/notebooks into notebooks/; NOTEBOOKS="sweep cluster" selects some
# make bench     measure the speed of the simulator, and count instructions
# make count     count the instructions per line, packet, request and flit-hop; CHANGE="..." says what has changed
# make scaling   run fat trees of 8 to 4096 endpoints on one thread, two threads and two processes
# make playground  compile the simulator to WebAssembly, and write it and its page to target/playground
# make test-playground  build the playground, and test it in node and in a browser; make browser installs Chromium
# make validate  recompute the published results, and their counts in the README; STUDIES="hostcc mcn" selects some
# make wheel     build the wheel for Linux with the oldest glibc that Rust supports into dist, and audit it
# make sdist     build the source distribution into dist
# make release   build all that a release consists of into dist, with its SHA256SUMS; see docs/release.md
#
# Needs Python 3.11 or later, stable Rust, a C compiler and make.

PYTHON ?= python3
TEST_PROCESSES ?= 2
SEED := $(or $(SEED),$(shell $(PYTHON) -c 'import random; print(random.randrange(2**32))'))
FUZZ_CASES ?= 20000
# Hundreds of random servers and clusters each: planted limits, innocent sides, steady states, laws, equal results on
# every engine; and every key.
CAMPAIGNS := $(addprefix tests/,explain/test_planted.py explain/test_sides.py explain/test_parties.py \
	explain/test_one_engine.py explain/test_behind_link.py api/test_planted_clusters.py api/test_contested_cables.py \
	api/test_steady_state.py api/test_silent_keys.py api/test_silent_clusters.py api/test_determinism.py api/test_littles_law.py)
PYTHON_TESTS := not long
VENV := .venv
BIN := $(VENV)/bin
DEVELOP := VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --locked
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Lints during compilation, where `cargo clippy` would compile again. A warning is an error.
LINTED := RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS="-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__"
RUST_SOURCES := $(shell find crates specs -type f)
STUDIES ?=
NOTEBOOKS ?=

export PYO3_PYTHON := $(CURDIR)/$(BIN)/python

# Zig links against the oldest glibc that Rust supports; other systems have their own linker.
WHEEL_LINKER := $(if $(filter Linux,$(shell uname)),--zig)
# Panics of a wheel name files of the crates, and not folders of the machine that built it.
WITHOUT_PATHS := --remap-path-prefix=$(CURDIR)/= --remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)/=

.PHONY: build dev demo mpi notebooks playground test-playground browser test test-all fuzz lint-rust test-rust lint-python test-python scaling docs docs-serve golden bench count validate all clean lock \
	wheel sdist release
.DEFAULT_GOAL := build

# Installs the Python packages while cargo compiles.
build:
	@$(MAKE) --no-print-directory --jobs=2 $(VENV)/built

$(VENV)/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "$(PYTHON) is older than Python 3.11; name a newer one: make PYTHON=python3.12" >&2; exit 1; }
	@cargo --version > /dev/null || { echo "cargo is missing: install stable Rust from https://rustup.rs" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/maturin: requirements/hostnet.lock $(VENV)/created
	@awk '/^[a-z]/ { wanted = /^maturin==/ } wanted' $< > $@.lock
	$(PIP) install --no-deps --require-hashes --requirement $@.lock
	@touch $@

$(VENV)/locked: requirements/hostnet.lock $(VENV)/maturin
	$(PIP) install --require-hashes --requirement requirements/hostnet.lock
	@touch $@

$(VENV)/locked-dev: requirements/dev.lock $(VENV)/locked
	$(PIP) install --require-hashes --requirement requirements/dev.lock
	@touch $@

$(VENV)/compiled: $(VENV)/maturin $(RUST_SOURCES) Cargo.toml Cargo.lock
	$(DEVELOP) --skip-install
	@touch $@

$(VENV)/built: $(VENV)/locked $(VENV)/compiled pyproject.toml
	$(DEVELOP)
	@rm -f $(VENV)/checked
	@touch $@

# The build with all assertions, which shares compiled crates with the Rust tests. It replaces the fast build in .venv.
$(VENV)/checked: $(VENV)/locked $(RUST_SOURCES) Cargo.toml Cargo.lock pyproject.toml
	$(LINTED) VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --profile checked --locked
	@rm -f $(VENV)/built
	@touch $@

demo: build
	@$(BIN)/hostnet demo

mpi: build $(VENV)/mpi

$(VENV)/mpi: requirements/dev.lock $(VENV)/locked
	@awk '/^[a-z]/ { wanted = /^mpi/ } wanted' $< > $@.lock
	$(PIP) install --no-deps --require-hashes --requirement $@.lock
	@touch $@
	@echo "$(BIN)/mpirun -n 2 $(BIN)/hostnet run cluster.toml"

notebooks: build $(VENV)/locked-dev
	@$(BIN)/python -m scripts.notebooks $(NOTEBOOKS)

playground:
	@$(PYTHON) -m scripts.playground

test-playground: playground $(VENV)/checked $(VENV)/locked-dev
	$(BIN)/pytest tests/playground -m "long or not long"

browser:
	@command -v chromium > /dev/null || { apt-get update && apt-get install --yes --no-install-recommends chromium; } \
		|| { echo "chromium cannot be installed; install it as root: apt-get install chromium" >&2; exit 1; }

# Builds the module first, so that the Python tests run while the last crates of the Rust tests compile one by one.
dev: $(VENV)/created
	@$(MAKE) --no-print-directory --jobs=2 $(VENV)/checked $(VENV)/locked-dev

test: dev
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target test-rust test-python lint-rust lint-python

test-all:
	@$(PYTHON) -m scripts.playground || test $$? -eq 2
	@$(MAKE) --no-print-directory test RUST_TESTS="-- --include-ignored" PYTHON_TESTS="long or not long"
	@$(MAKE) --no-print-directory fuzz CAMPAIGNS=

fuzz: build $(VENV)/locked-dev
	@echo "make fuzz SEED=$(SEED)"
	$(LINTED) PROPTEST_CASES=$(FUZZ_CASES) cargo test --profile checked --package hostnet-config --locked --test all -- fuzz::
	$(BIN)/pytest tests/fuzz --numprocesses $(TEST_PROCESSES) --hypothesis-profile many --hypothesis-seed $(SEED)
	$(if $(CAMPAIGNS),$(BIN)/pytest $(CAMPAIGNS) -m long --numprocesses $(TEST_PROCESSES))

# The module for Python is linted where maturin compiles it; cargo alone would compile it again with other settings.
lint-rust: $(VENV)/checked
	cargo fmt --all --check
	$(LINTED) cargo test --profile checked --workspace --locked --no-run

test-rust: $(VENV)/created
	$(LINTED) cargo test --profile checked --workspace --locked $(RUST_TESTS)

lint-python: $(VENV)/checked $(VENV)/locked-dev
	$(BIN)/ruff format --check python tests examples scripts
	$(BIN)/ruff check python tests examples scripts
	$(BIN)/mypy
	$(BIN)/stubtest hostnet._core --mypy-config-file pyproject.toml

test-python: $(VENV)/checked $(VENV)/locked-dev
	$(BIN)/pytest --numprocesses $(TEST_PROCESSES) --dist worksteal -m "$(PYTHON_TESTS)"

scaling: build $(VENV)/mpi
	@$(BIN)/python scripts/scaling.py

golden: build
	@$(BIN)/python -m tests.golden --processes $(TEST_PROCESSES)

docs: build $(VENV)/locked-dev
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --workspace --exclude hostnet-python --locked
	@$(BIN)/python -m scripts.site --check

docs-serve: docs
	@$(BIN)/python -m http.server 8000 --bind 127.0.0.1 --directory site/html

bench:
	cargo run --release --locked --package hostnet-bench
	@$(MAKE) --no-print-directory count

count:
	@command -v valgrind > /dev/null || { apt-get update && apt-get install --yes --no-install-recommends valgrind; } \
		|| { echo "valgrind cannot be installed; install it as root: apt-get install valgrind" >&2; exit 1; }
	cargo run --release --locked --package hostnet-bench -- --count $(if $(CHANGE),--change "$(CHANGE)")

validate: build $(VENV)/mpi
	@$(BIN)/hostnet validate $(or $(STUDIES),--all) --write

$(VENV)/wheel-tools: requirements/wheel.lock $(VENV)/maturin
	$(PIP) install --require-hashes --requirement $<
	@touch $@

wheel: $(VENV)/wheel-tools
	rm -f dist/*.whl
	PATH="$(CURDIR)/$(BIN):$$PATH" RUSTFLAGS="$(WITHOUT_PATHS)" $(BIN)/maturin build --release --locked $(WHEEL_LINKER) --strip --out dist
	@$(BIN)/python scripts/audit_wheel.py dist/*.whl

sdist: $(VENV)/maturin
	rm -f dist/*.tar.gz
	$(BIN)/maturin sdist --out dist

release: wheel sdist docs playground
	tar --create --gzip --file dist/hostnet-docs.tar.gz --directory site html
	tar --create --gzip --file dist/hostnet-playground.tar.gz --directory target playground
	cd dist && find . -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort | xargs sha256sum > SHA256SUMS
	@cat dist/SHA256SUMS

all: test

clean:
	rm -rf $(VENV) target site dist python/hostnet/_core*.so .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find python tests -name __pycache__ -type d -prune -exec rm -rf {} +

# Needs uv (https://docs.astral.sh/uv).
lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
		--custom-compile-command "make lock" --output-file requirements/hostnet.lock pyproject.toml --group build
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --extra dev \
		--custom-compile-command "make lock" --constraint requirements/hostnet.lock --output-file requirements/dev.lock pyproject.toml
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
		--custom-compile-command "make lock" --output-file requirements/wheel.lock --group wheel
