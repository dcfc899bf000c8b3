# bash -c THIS reach LANGUAGE SIDE TEST...: runs the tests in the work tree and leaves in $TESTWRIGHT_REPORT_DIR/SIDE
# what their language's own tool says of the lines that ran. Of the files that $TESTWRIGHT_FILES lists (JSON), where it is
# given, that is also which lines there are, and the branches.
set -uo pipefail
language=$1 side=$2
shift 2
out=$TESTWRIGHT_REPORT_DIR/$side
mkdir -p "$out"
case $language in
    python)
        unset TESTWRIGHT_REPORT_DIR
        export TESTWRIGHT_REACHED=$out PYTHONPATH=/tmp/reach/lines PYTHONDONTWRITEBYTECODE=1
        [[ -z ${TESTWRIGHT_FILES-} ]] || PYTHONPATH=/tmp/reach/branches
        "$TESTWRIGHT_TEST_COMMAND" "$@"
        ;;
    typescript)
        unset TESTWRIGHT_REPORT_DIR
        # Without CI vitest writes snapshots that aren't there.
        export TESTWRIGHT_REACHED=$out TESTWRIGHT_ROOT=$PWD NODE_OPTIONS='--require /tmp/reach/reached.cjs' CI=true
        "$TESTWRIGHT_TEST_COMMAND" "$@"
        ;;
    go)
        declare -A patterns
        for test in "$@"; do
            package=$(dirname -- "${test%%::*}")
            patterns[$package]+="${patterns[$package]:+|}${test#*::}"
        done
        status=0
        covered=()
        [[ -z ${TESTWRIGHT_FOLDERS-} ]] || covered=(-coverpkg="$TESTWRIGHT_FOLDERS")
        for package in "${!patterns[@]}"; do
            name=$(printf %s "$package" | tr / -)
            go test -vet=off "${covered[@]}" -coverprofile="$out/$name.out" -run "^(${patterns[$package]})\$" "./$package" || status=$?
        done
        exit "$status"
        ;;
    c)
        # By a compiler that counts. The library that the image has doesn't: a blank line at a file's end makes the run
        # script build its own. It clears up what it built, so what gcov needs of it goes elsewhere.
        export COUNTED=/tmp/reach/counted
        export GCOV_PREFIX=$COUNTED PATH=/tmp/reach:$PATH
        cat >/tmp/reach/gcc <<'END'
#!/bin/bash
/usr/bin/gcc "$@" -O0 --coverage || exit
while [[ $# -gt 1 && $1 != -o ]]; do shift; done
cp --parents "${2%.o}".gcno "$COUNTED" 2>/dev/null || true
END
        chmod 755 /tmp/reach/gcc
        mkdir -p "$COUNTED"
        read -r _ source </opt/library/sources
        echo >>"$source"
        unset TESTWRIGHT_REPORT_DIR
        "$TESTWRIGHT_TEST_COMMAND" "$@"
        status=$?
        number=0
        while read -r counts; do
            number=$((number + 1))
            gcov --json-format --branch-probabilities --stdout "$counts" >"$out/$number.json" 2>/dev/null
        done < <(find "$COUNTED" -name '*.gcda')
        exit "$status"
        ;;
esac
