# bash -c THIS reach LANGUAGE SIDE TEST...: runs the tests in the work tree and leaves in $TESTWRIGHT_REPORT_DIR/SIDE
# what their language's own tool says of the lines that ran.
set -uo pipefail
language=$1 side=$2
shift 2
out=$TESTWRIGHT_REPORT_DIR/$side
mkdir -p "$out"
case $language in
    python)
        unset TESTWRIGHT_REPORT_DIR
        export TESTWRIGHT_REACHED=$out PYTHONPATH=/tmp/reach PYTHONDONTWRITEBYTECODE=1
        "$TESTWRIGHT_TEST_COMMAND" "$@"
        ;;
    go)
        declare -A patterns
        for test in "$@"; do
            package=$(dirname -- "${test%%::*}")
            patterns[$package]+="${patterns[$package]:+|}${test#*::}"
        done
        status=0
        for package in "${!patterns[@]}"; do
            name=$(printf %s "$package" | tr / -)
            go test -vet=off -coverprofile="$out/$name.out" -run "^(${patterns[$package]})\$" "./$package" || status=$?
        done
        exit "$status"
        ;;
esac
