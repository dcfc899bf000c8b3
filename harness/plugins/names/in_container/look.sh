# bash -c THIS names REMOVED [PATH...] LANGUAGE TEST...: runs the tests in the work tree, or builds them alone where their
# language's compiler knows all names, and leaves names-* in $TESTWRIGHT_REPORT_DIR.
set -uo pipefail
removed=$1
shift
rm -f -- "${@:1:removed}"
shift "$removed"
language=$1
shift
out=$TESTWRIGHT_REPORT_DIR
unset TESTWRIGHT_REPORT_DIR
export TESTWRIGHT_NAMES=$out LC_ALL=C.UTF-8
case $language in
    python)
        export PYTHONPATH=/tmp/names PYTEST_PLUGINS=testwright_plugin PYTHONDONTWRITEBYTECODE=1
        "$TESTWRIGHT_TEST_COMMAND" "$@"
        ;;
    go)
        # -e: all errors of a package, not the first ten.
        read -ra folders <<<"$TESTWRIGHT_FOLDERS"
        for folder in "${folders[@]}"; do
            go test -gcflags=-e -vet=off -run '^$' "$folder"
            # What is built only elsewhere is compiled as well, and not run.
            for tag in $TESTWRIGHT_TAGS; do
                if go tool dist list | grep -q "^$tag/"; then
                    GOOS=$tag go test -gcflags=-e -vet=off -c -o /dev/null "$folder"
                else
                    go test -tags "$tag" -gcflags=-e -vet=off -c -o /dev/null "$folder"
                fi
            done
        done >"$out/names.log" 2>&1
        ;;
    c)
        export PATH=/tmp/names:$PATH
        : >"$out/names.log"
        "$TESTWRIGHT_TEST_COMMAND" "$@"
        ;;
    typescript)
        node /tmp/names/names.cjs
        ;;
esac
exit 0
