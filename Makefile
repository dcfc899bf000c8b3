# The commands that a newcomer needs. Each sets up .venv when it is missing or its locks have changed.
PYTHON ?= $(shell scripts/interpreter)
VENV := .venv
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test test-all check check-tasks repositories bench attack honest submissions faults killer schemas commands stubs scores validity providers names site native published

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 13

$(READY): requirements.lock pyproject.toml
	@scripts/set-up "$(PYTHON)" "$(VENV)"
	@touch $@

demo: $(READY) ## an agent works in a real repository and is judged in all stages
	@scripts/demo

test: $(READY) ## a fixed part of everything that must hold, in nine minutes on two idle cores
	@scripts/test

test-all: $(READY) ## everything that must hold: make test, then what takes long
	@scripts/test --all

check: $(READY) ## style, types, the import contract; shell and JavaScript
	@scripts/check

check-tasks: $(READY) ## every task in full, with a check record of each and docs/catalogue.md; only="ID ..." takes some
	@set -f; status=0; $(VENV)/bin/testwright task check $(or $(only),* build:* e2e:* technique:*) --records docs/check-records --write -j 3 || status=1; \
	$(VENV)/bin/python scripts/catalogue.py && exit $$status

bench: $(READY) ## the budgets, measured as ratios in one run; only="commands help" takes some
	@$(VENV)/bin/python -m benchmarks $(addprefix --only ,$(only))

attack: $(READY) ## every attempt to fool the verifier, what it must come to, and what it came to
	@$(VENV)/bin/python -m scripts.validity adversarial

honest: $(READY) ## honest work in many styles, and honest work that isn't enough
	@$(VENV)/bin/python -m scripts.validity honest

submissions: $(READY) ## every submission for bugs, pages and briefs in tests/fixtures: what it must come to; only="bug" takes some
	@status=0; for kind in $(or $(only),bug browser build); do \
	$(VENV)/bin/testwright verify --batch tests/fixtures/$$kind || status=1; done; exit $$status

faults: $(READY) ## every fault that is injected, what must still be true, and whether it is; only="EXPR" takes some
	@COLUMNS=160 TESTWRIGHT_FAULTS=all $(VENV)/bin/python -m pytest -q -p tests.support.injected_faults -m fault $(if $(only),-k "$(only)") tests/faults

killer: $(READY) ## a run with oracle under a killer that strikes at random; only="TASK ..." and with="--ray --seed 2"
	@set -f; $(VENV)/bin/python -m scripts.killer $(with) $(only)

native: $(READY) ## every native scaffold, twice, and compare on the result
	@TESTWRIGHT_REQUIRE_DOCKER=1 TESTWRIGHT_ATTEMPTS=2 \
	TESTWRIGHT_NATIVE="claude-code codex opencode gemini-cli qwen-code mini-swe-agent command" \
	$(VENV)/bin/python -m pytest -q tests/docker/test_native_runs.py tests/docker/test_native_agents.py

published: $(READY) ## every suite for the published tasks in tests/fixtures, by both rules; only="TASK and SUBMISSION" takes some
	@TESTWRIGHT_REQUIRE_DOCKER=1 TESTWRIGHT_PUBLISHED=all $(VENV)/bin/python -m pytest -q \
	$(if $(only),-k "$(only)") tests/docker/test_published_suites.py

repositories: $(READY) ## repositories made by repo new from releases of each kind, and tasks judged on them
	@TESTWRIGHT_REQUIRE_DOCKER=1 TESTWRIGHT_REPO_NEW=1 $(VENV)/bin/python -m pytest -q tests/docker/test_repositories_made_anew.py

stubs: $(READY) ## docs/stubs.md: how many of 200 stubs over all repositories compile
	@$(VENV)/bin/python -m scripts.stubs

scores: $(READY) ## mutation scores of each task's suites on docs/validity.md; only="TASK ..." takes some
	@$(VENV)/bin/python -m scripts.mutation_scores $(only)

schemas: $(READY) ## docs/schemas/ from the models
	@$(VENV)/bin/python scripts/schemas.py

commands: $(READY) ## docs/commands.md from the commands and their examples
	@$(VENV)/bin/python -m scripts.commands

providers: $(READY) ## docs/providers.md: what each fault of a model provider leads to
	@$(VENV)/bin/python -W ignore -m tests.support.providers_page

names: $(READY) ## docs/names.md: how many planted names are found; only="LANGUAGE ..." takes some
	@$(VENV)/bin/python -m tests.support.names_page $(only)

site: $(READY) ## site/ from the recorded run in docs/sample-run; it opens from disk
	@$(VENV)/bin/testwright report docs/sample-run --site site

validity: $(READY) ## docs/validity.md from both corpora
	@$(VENV)/bin/python -m scripts.validity --write
