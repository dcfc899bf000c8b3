# The commands that a newcomer needs. Each sets up .venv when it is missing or its locks have changed.
PYTHON ?= python3
VENV := .venv
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test check bench attack honest schemas validity

help: ## this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

$(READY): requirements.lock pyproject.toml
	@scripts/set-up "$(PYTHON)" "$(VENV)"
	@touch $@

demo: $(READY) ## an agent works in a real repository and is judged in all stages
	@scripts/demo

test: $(READY) ## everything that must hold, with seconds per group
	@scripts/test

check: $(READY) ## style, types, the import contract
	@scripts/check

bench: $(READY) ## the budgets, measured as ratios in one run
	@$(VENV)/bin/python -m benchmarks

attack: $(READY) ## every attempt to fool the verifier, what it must come to, and what it came to
	@$(VENV)/bin/python scripts/validity.py adversarial

honest: $(READY) ## honest work in many styles, and honest work that isn't enough
	@$(VENV)/bin/python scripts/validity.py honest

schemas: $(READY) ## docs/schemas/ from the models
	@$(VENV)/bin/python scripts/schemas.py

validity: $(READY) ## docs/validity.md from both corpora
	@$(VENV)/bin/python scripts/validity.py --write
