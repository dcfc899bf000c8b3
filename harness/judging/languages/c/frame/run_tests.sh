#!/usr/bin/env bash
# Runs this repository's tests; the agent and the verifier both use it.

usage() {
    cat <<'USAGE'
usage: run_tests                 all test programs
       run_tests FILE|ID...      these only
       run_tests --library DIR   build the library into DIR, run nothing

Run it at the root of the tree. Every test_*.c is a test program of its own: it is
compiled and linked with the library as it stands, nothing needs registering, and nothing is
written into the tree.

FILE  a test program's source, relative to the root of the tree
ID    FILE::PROGRAM, as in tests/test_x.c::test_x

A program passes when it ends with status 0, is skipped with 77, and fails with any other
status, a signal, or at its time limit. It runs in an empty directory of its own; top_srcdir
is the root of the tree. The exit status is 0 when all passed, 1 when one failed, 2 when one,
or the library, did not build.

TESTWRIGHT_TEST_SECONDS   time limit of one program, in seconds (default: 60)
TESTWRIGHT_REPORT_DIR     where to write TAP reports: 1.tap, 2.tap, ...
CFLAGS                    how --library compiles it (default: -O1)
USAGE
}

tests_failed=1
broken=2
made=/opt/library # the library as it was made beforehand, and of which sources
root=$PWD
jobs=$(nproc)
# The library's sources, the headers that upstream's configuration makes, what is compiled and linked with.
code=(@CODE@)
headers=/opt/headers
options=(@OPTIONS@)
libraries=(@LIBRARIES@)

give_up() {
    printf 'run_tests: %s\n' "$*" >&2
    exit "$broken"
}

# The library's own headers; never those of tests, or a header added there would build the library anew.
find_headers() {
    local places=("$(dirname "${code[0]}")") directory
    mapfile -t own_headers < <({
        find "${places[0]}" -maxdepth 1 -name '*.h'
        [[ ! -d include ]] || find include -name '*.h'
        find "$headers" -name '*.h'
    } | sed 's,^\./,,' | LC_ALL=C sort)
    includes=(-I. "-I${places[0]}")
    while read -r directory; do
        includes+=("-I$directory")
    done < <([[ -z ${own_headers[*]} ]] || dirname "${own_headers[@]}" | awk '!seen[$0]++')
    [[ "${own_headers[*]}" != *"$headers"* ]] || options+=(-DHAVE_CONFIG_H)
}

compile() {
    LC_ALL=C gcc "${options[@]}" "${includes[@]}" -w "$@"
}

sources() {
    sha256sum "${code[@]}" "${own_headers[@]}"
}

# `sources` beside the library says what it was made of; where that still holds, it is used again.
# Objects are kept under DIR/../objects by the hash of all that they are made of.
build_library() {
    local source key known objects=() kept
    kept=$(dirname "$1")/objects
    mkdir -p "$1" "$kept"
    known=$(sha256sum /dev/null "${own_headers[@]}" | cut -d' ' -f1)
    for source in "${code[@]}"; do
        key=$(printf '%s\n' "$known" "$2" "$source" "$(<"$source")" | sha256sum)
        objects+=("$kept/${key%% *}/$(basename "$source" .c).o")
        compile_object "$source" "${objects[-1]}" "$2" &
        (($(jobs -rp | wc -l) < jobs)) || wait -n
    done
    wait
    [[ ! -e $work/failed ]] || return 1
    rm -f "$1/library.a"
    ar rcD "$1/library.a" "${objects[@]}" && strip --discard-all --enable-deterministic-archives "$1/library.a" &&
        sources >"$1/sources"
}

compile_object() {
    [[ ! -e $2 ]] || return 0
    mkdir -p "$(dirname "$2")"
    # shellcheck disable=SC2086  # several options
    compile $3 -c "$1" -o "$2" || : >"$work/failed"
}

find_library() {
    library=$made/library.a
    [[ $(sources) != "$(<"$made/sources")" ]] || return 0
    echo "the library's sources have changed; building it"
    library=$work/library/library.a
    build_library "$work/library" -O1 || give_up "the library does not build"
}

# test/x/test_a.c::test_a or ./test/x/test_a.c -> test/x/test_a.c
file_of() {
    file=${1%%::*}
    while [[ $file == ./* ]]; do file=${file#./}; done
    local program=${file##*/}
    [[ $1 != *::* || ${1#*::} == "${program%.c}" ]] || give_up "$file is one test, ${program%.c}; there is no ${1#*::}"
    [[ $program == test_*.c && -f $file && $file != [/-]* ]] || give_up "no test program in $(printf %q "$file")"
}

# Each in a directory of its own: its number in the order given.
build_tests() {
    local number=0 file
    for file in "${files[@]}"; do
        number=$((number + 1))
        mkdir -p "$work/$number/run"
        compile -O0 -o "$work/$number/$(program_of "$file")" "$file" "$library" "${libraries[@]}" \
            >"$work/$number/log" 2>&1 || : >"$work/$number/failed" &
        (($(jobs -rp | wc -l) < jobs)) || wait -n
    done
    wait
}

program_of() {
    basename "$1" .c
}

# Sets `ended` and `seconds`; what the program prints goes to the log.
run_program() {
    local began=${EPOCHREALTIME/[.,]/} number=$1 program=$2 code
    if [[ -e $work/$number/failed ]]; then
        ended='not built' seconds=0.000000
        return
    fi
    # Asynchronously started: so a signal that ends the program is not announced.
    (cd "$work/$number/run" && exec env "top_srcdir=$root" timeout --kill-after=1 \
        "${TESTWRIGHT_TEST_SECONDS:-60}" "../$program") </dev/null >>"$work/$number/log" 2>&1 &
    wait $! 2>/dev/null
    code=$?
    printf -v seconds '%07d' $((${EPOCHREALTIME/[.,]/} - began))
    seconds=${seconds::-6}.${seconds: -6}
    case $code in
        0) ended=passed ;;
        77) ended=skipped ;;
        124) ended='timed out' ;;
        *) if ((code > 128)); then ended="signal $((code - 128))"; else ended="status $code"; fi ;;
    esac
}

# The last lines it printed, as plain text.
last_words() {
    tail --bytes=4000 "$work/$1/log" | LC_ALL=C tr -c '\n\t -~' '?' | sed 's/^/    /'
}

write_report() {
    local number=$1 program=$2 result='not ok' directive=''
    [[ $ended != passed && $ended != skipped ]] || result=ok
    [[ $ended != skipped ]] || directive=' # SKIP'
    {
        printf 'TAP version 14\n1..1\n'
        printf '%s 1 - %s%s\n' "$result" "$program" "$directive"
        printf '  ---\n  ended: %s\n  seconds: %s\n  output: |\n' "$ended" "$seconds"
        last_words "$number"
        printf '\n  ...\n'
    } >"$TESTWRIGHT_REPORT_DIR/$number.tap"
}

run_files() {
    local number=0 passed=0 file
    build_tests
    for file in "${files[@]}"; do
        number=$((number + 1))
        run_program "$number" "$(program_of "$file")"
        printf '%-10s %s (%s s)\n' "$ended" "$file" "$seconds"
        [[ -z ${TESTWRIGHT_REPORT_DIR:-} ]] || write_report "$number" "$(program_of "$file")"
        case $ended in
            passed) passed=$((passed + 1)) ;;
            skipped) ;;
            'not built') status=$broken ;;
            *) [[ $status -ne 0 ]] || status=$tests_failed ;;
        esac
        [[ $ended == passed ]] || last_words "$number"
    done
    printf '%d of %d test programs passed\n' "$passed" "$number"
}

case ${1-} in
    -h | --help)
        usage
        exit 0
        ;;
esac

[[ -f ${code[0]} ]] || give_up "run it at the root of the tree"
work=$(mktemp -d)
# shellcheck disable=SC2064  # the directory is known now
trap "rm -rf '$work'" EXIT
find_headers

case ${1-} in
    --library)
        [[ $# -eq 2 ]] || give_up "--library takes one directory"
        build_library "$2" "${CFLAGS--O1}" || give_up "the library does not build"
        exit 0
        ;;
    --) shift ;;
esac

files=()
for given in "$@"; do
    file_of "$given"
    for known in "${files[@]}"; do
        [[ $known != "$file" ]] || continue 2
    done
    files+=("$file")
done
[[ $# -gt 0 ]] || mapfile -d '' files < <(find . -name 'test_*.c' -type f -printf '%P\0' | LC_ALL=C sort -z)

status=0
find_library
run_files
exit "$status"
