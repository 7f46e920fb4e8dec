# make serve   everything from nothing to a running console; ARGS="--port 9000" go to manage.py serve
# make test    every check and every test
# make bench   the measurements of benchmarks/
# make clean   removes what the others made here

SHELL := /bin/sh
PYTHON := $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
export PLAYWRIGHT_BROWSERS_PATH := $(CURDIR)/.browsers

.PHONY: serve test bench clean browser

serve: $(VENV)/.run
	@exec $(BIN)/python manage.py serve $(ARGS)

test: $(VENV)/.dev browser
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary
	@said=$$($(BIN)/lint-imports 2>&1) || { echo "$$said" >&2; exit 1; }
	@home=$$(mktemp -d) && trap 'rm -rf "$$home"' EXIT && \
		PROTOAGENT_HOME="$$home" $(BIN)/python manage.py makemigrations --check --dry-run >&2
	@$(BIN)/python -m pytest -q $(ARGS)

bench: $(VENV)/.dev
	@for script in benchmarks/bench_*.py; do $(BIN)/python -m "benchmarks.$$(basename "$$script" .py)" || exit 1; done

clean:
	rm -rf $(VENV) .browsers staticfiles .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps say that what the requirements name is installed, so that a second run asks no network.
$(VENV)/.run: requirements.txt | $(BIN)/pip
	@echo "Installing what the program needs ..." >&2
	@$(PIP) install -r requirements.txt
	@touch $@

$(VENV)/.dev: requirements-dev.txt requirements.txt | $(BIN)/pip
	@echo "Installing what the tests need ..." >&2
	@$(PIP) install -r requirements-dev.txt
	@touch $(VENV)/.run $@

$(BIN)/pip:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; on Debian: apt install python3 python3-venv" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed, and $(PYTHON) is older." >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip' 2>/dev/null || \
		{ echo "This Python cannot make virtual environments; on Debian: apt install python3-venv" >&2; exit 1; }
	@"$(PYTHON)" -m venv $(VENV)

# A browser for the tests: the one on the PATH, else Debian's, else Playwright's own.
browser: $(VENV)/.dev
	@if command -v chromium >/dev/null; then \
		:; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing Chromium ..." >&2; \
		apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium >/dev/null; \
	else \
		$(BIN)/python -m playwright install chromium; \
	fi
