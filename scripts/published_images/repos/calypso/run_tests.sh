#!/usr/bin/env bash
# Runs test files; without arguments all of them.
exec npx jest --verbose --maxWorkers=1 "$@"
