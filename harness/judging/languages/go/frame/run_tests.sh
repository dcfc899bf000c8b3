#!/usr/bin/env bash
# Runs this repository's tests; the agent and the verifier both use it.

usage() {
    cat <<'USAGE'
usage: run_tests                 all tests
       run_tests FILE|ID...      these only

FILE  a test file, relative to the current directory
ID    FILE::TestName (one test function with all its subtests)

The tests of each file run in a process of their own, in the directory of their package
and in the order given. The exit status is 0 when all passed, 1 when a test failed, 2 when
a package could not be built or its test process broke down, 4 when there is no such file
or test.

TESTWRIGHT_TEST_SECONDS    time limit of one test, in seconds (default: 60)
TESTWRIGHT_REPORT_DIR      where to write reports, 1.jsonl, 2.jsonl, ..., as `go test -json` does
TESTWRIGHT_TEST_BINARIES   test binaries that need no building: DIR/cmd/restic.test.gz
USAGE
}

seconds=${TESTWRIGHT_TEST_SECONDS:-60}
reports=${TESTWRIGHT_REPORT_DIR:-}
status=0

refuse() {
    printf 'run_tests: %s\n' "$1" >&2
    exit 4
}

ended() {
    [[ $status -ne 0 ]] || status=$1
}

# report PACKAGE STATUS FILE: what a test process printed, and its exit status, as events.
# The last one is the package's, also where the process broke down: then it has the name of some test.
report() {
    # shellcheck disable=SC2016  # for the inner shell
    test2json -p "$1" bash -c 'cat -- "$1"; exit "$2"' bash "$3" "$2" > "$scratch/events"
    sed -E '$ { /"Action":"fail".*"Test":/ { p; s/,"Test":"([^"\\]|\\.)*"// } }' "$scratch/events" > "$reports/$number.jsonl"
}

case ${1-} in
    -h | --help)
        usage
        exit 0
        ;;
    --) shift ;;
esac

if [[ $# -eq 0 ]]; then
    if [[ -n $reports ]]; then
        go test -vet=off -json @PACKAGES@ > "$reports/1.jsonl"
        ended $?
        grep -v '"Action":"\(run\|pause\|cont\|pass\|skip\)"' "$reports/1.jsonl" | tail -n 200
    else
        go test -vet=off @PACKAGES@
        ended $?
    fi
    exit "$status"
fi

scratch=$(mktemp -d) || exit 3
trap 'rm -rf "$scratch"' EXIT

# The names of a file's tests: a test binary has those of a whole package.
tests_of() {
    sed -nE 's/^func ((Test|Fuzz|Example)[[:alnum:]_]*)\(.*/\1/p' "$1" | grep -vx TestMain
}

# Sets `binary`: the package's tests, built unless they came along. Fails where they can't be built.
build() {
    local package=$1
    binary=$scratch/$package.test
    [[ ! -e $binary ]] || return 0
    mkdir -p "${binary%/*}"
    if [[ -n ${TESTWRIGHT_TEST_BINARIES:-} ]]; then
        gzip -dc "$TESTWRIGHT_TEST_BINARIES/$package.test.gz" > "$binary.new" || return 1
        chmod 755 "$binary.new"
    else
        go test -c -vet=off -o "$binary.new" "./$package" || return 1
    fi
    mv "$binary.new" "$binary"
}

# run PACKAGE COUNT PATTERN: those tests, in the package's directory as `go test` does it.
run() {
    local options=(-test.paniconexit0 "-test.timeout=$((seconds * $2))s" "-test.run=$3")
    if [[ -z $reports ]]; then
        (cd "$1" && exec "$binary" "${options[@]}")
        return
    fi
    # By way of a file: what the tests leave running can't hold up its reading.
    (cd "$1" && exec "$binary" -test.v "${options[@]}") > "$scratch/output" 2>&1
    local code=$?
    report "$1" "$code" "$scratch/output"
    cat "$scratch/output"
    return "$code"
}

not_built() {
    ended 2
    printf 'FAIL\t%s [build failed]\n' "$1" > "$scratch/output"
    [[ -z $reports ]] || report "$1" 2 "$scratch/output"
}

arguments=()
files=()
for given in "$@"; do
    file=${given%%::*}
    while [[ $file == ./* ]]; do file=${file#./}; done
    [[ -n $file ]] || refuse "no file is named in $(printf %q "$given")"
    [[ $file == *_test.go && -f $file ]] || refuse "$(printf %q "$file"): no test file of this name"
    name=
    [[ $given != *::* ]] || name=${given#*::}
    arguments+=("$file::${name%%/*}")
    for known in "${files[@]}"; do
        [[ $known != "$file" ]] || continue 2
    done
    files+=("$file")
done

number=0
for file in "${files[@]}"; do
    number=$((number + 1))
    package=$(dirname -- "$file")
    known=$(tests_of "$file")
    names=()
    for argument in "${arguments[@]}"; do
        [[ ${argument%%::*} == "$file" ]] || continue
        if [[ $argument == "$file::" ]]; then # the whole file, whatever else of it is named
            mapfile -t names <<< "$known"
            break
        fi
        name=${argument#*::}
        grep -qxF -e "$name" <<< "$known" || refuse "$(printf %q "$argument"): no test of this name"
        names+=("$name")
    done
    [[ -n ${names[*]} ]] || refuse "$(printf %q "$file"): no tests in this file"
    [[ -n $reports ]] || printf '== %s\n' "$file"
    if ! build "$package"; then
        not_built "$package"
        continue
    fi
    run "$package" "${#names[@]}" "^($(IFS='|' && echo "${names[*]}"))\$"
    ended $?
done
exit "$status"
