#!/bin/bash
# usage: arm CHANGED_DIR N REMOVED*N FILE::ID...
# The published verifier's steps before its tests run: everything is added to the index, as its diff needs it, and
# then the files below CHANGED_DIR, where there are some, are laid over the tree.
set -u
changed=$1 count=$2
shift 2
rm -f -- "${@:1:count}"
shift "$count"
git add -A 2>/dev/null
[[ ! -d $changed ]] || cp -r -- "$changed/." .
exec "$(dirname "$0")/run_tests" "$@"
