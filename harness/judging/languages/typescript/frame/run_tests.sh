#!/usr/bin/env bash
# Runs this repository's tests; the agent and the verifier both use it.
exec node@CONDITIONS@ /node_modules/run_tests/run.mjs "$@"
