#!/bin/bash
# usage: run_tests FILE::ID...      all of a file: FILE::all
# Runs a published task's own run script over the files, then its parser: for the Nth distinct file, N.json in
# $TESTWRIGHT_REPORT_DIR is what the parser makes of the output. Both lie beside this script, outside the tree.
#
# TESTWRIGHT_APART    1: the run script is given one file at a time (their tests have the same names)
# TESTWRIGHT_TOUCHED  code files of the variant, one a line: what was built of them before is out of date
#
# Ends with status 3 whatever the tests did: a published run script's own status means nothing.
set -u
tools=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

while IFS= read -r path; do
    [[ -f $path ]] || continue
    touch -- "$path"
    name=${path##*/}
    rm -f -- "$(dirname "$path")/__pycache__/${name%.py}".*.pyc
done <<<"${TESTWRIGHT_TOUCHED-}"

declare -A seen=()
files=() names=()
for id in "$@"; do
    file=${id%%::*} name=${id#*::}
    # The test's own name: what stands before it is a class or a block.
    [[ $name == all ]] || { name=${name##* > } && names+=("${name##*.}"); }
    [[ -n ${seen[$file]-} ]] || files+=("$file")
    seen[$file]=1
done

# run OUT FILE...
run() {
    local out=$1
    shift
    bash "$tools/run_script.sh" "$@" >"$scratch/stdout" 2>"$scratch/stderr" </dev/null
    cat "$scratch/stdout" "$scratch/stderr"
    python3 "$tools/parse_log.py" "$tools/parse_script.py" "$scratch/stdout" "$scratch/stderr" "$out" "${names[@]}"
}

if [[ ${TESTWRIGHT_APART-} == 1 ]]; then
    for number in "${!files[@]}"; do
        run "$TESTWRIGHT_REPORT_DIR/$((number + 1)).json" "${files[number]}"
    done
else
    run "$scratch/all.json" "${files[@]}"
    for number in "${!files[@]}"; do
        cp "$scratch/all.json" "$TESTWRIGHT_REPORT_DIR/$((number + 1)).json"
    done
fi
exit 3
