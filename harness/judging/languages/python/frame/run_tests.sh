#!/usr/bin/env bash
# Runs this repository's tests; the agent and the verifier both use it.
# No `set -u`: bash before 4.4 (macOS) takes an empty array for an unset one.

usage() {
    cat <<'USAGE'
usage: run_tests                 @ALL@
       run_tests FILE|ID...      these only

FILE  a test file, relative to the current directory
ID    FILE::test_function or FILE::Class.test_method
      (one test function with all its cases)

Each file runs in a process of its own, in the order given. The exit status is 0
when all passed, else that of the first run that did not (pytest's: 1 tests failed,
4 no such file or test, 5 no tests).

TESTWRIGHT_TEST_SECONDS   time limit of one test, in seconds (default: 60)
TESTWRIGHT_REPORT_DIR     where to write JUnit reports: 1.xml, 2.xml, ...; once a case of a
                          test has failed, its other cases are skipped
USAGE
}

pytest_options=(-p no:cacheprovider -o addopts= -ra@OPTIONS@"--timeout=${TESTWRIGHT_TEST_SECONDS:-60}")
@WHY_LEFT_OUT@
left_out=(@LEFT_OUT@)
config=@CONFIG@

# At the root of the tree, its own configuration counts and no file nearer the tests.
[[ -f $config ]] && pytest_options+=(--rootdir=. "--config-file=$config")

# One failed case shows that a test fails; a report need not wait for the other hundred.
one_failure_per_test='
import sys, pytest

class OneFailurePerTest:
    failed = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item):
        if item.nodeid.partition("[")[0] in self.failed:
            pytest.skip("an earlier case of this test has failed")

    def pytest_runtest_logreport(self, report):
        if report.failed and report.when != "teardown":
            self.failed.add(report.nodeid.partition("[")[0])

sys.exit(pytest.main(sys.argv[1:], plugins=[OneFailurePerTest()]))
'

@SERVICE@
runs=0
status=0
run_pytest() {
    local report=()
    runs=$((runs + 1))
    if [[ -n ${TESTWRIGHT_REPORT_DIR:-} ]]; then
        report=(-o junit_family=xunit1 "--junit-xml=$TESTWRIGHT_REPORT_DIR/$runs.xml")
        python -c "$one_failure_per_test" "${pytest_options[@]}" "${report[@]}" "$@"
    else
        python -m pytest "${pytest_options[@]}" "$@"
    fi
    local ended=$?
    [[ $status -ne 0 ]] || status=$ended
}

# path/to/test_x.py::Class.test_a -> ./path/to/test_x.py::Class::test_a
# The "./" keeps pytest from taking a name for an option (-x) or a list of arguments (@x).
pytest_argument() {
    local file=${1%%::*} name='' cases=''
    while [[ $file == ./* ]]; do file=${file#./}; done
    [[ $file == /* ]] || file=./$file
    if [[ $1 == *::* ]]; then
        name=${1#*::}
        [[ $name != *\[* ]] || cases="[${name#*\[}"
        name=${name%%\[*}
        name=::${name//./::}
    fi
    argument=$file$name$cases
}

case ${1-} in
    -h | --help)
        usage
        exit 0
        ;;
    --) shift ;;
esac

if [[ $# -eq 0 ]]; then
    run_pytest "${left_out[@]}"
    exit "$status"
fi

arguments=()
files=()
for given in "$@"; do
    if [[ -z ${given%%::*} ]]; then
        printf 'run_tests: no file is named in %q\n' "$given" >&2
        exit 4 # pytest's own status for a usage error
    fi
    pytest_argument "$given"
    arguments+=("$argument")
    file=${argument%%::*}
    for known in "${files[@]}"; do
        [[ $known != "$file" ]] || continue 2
    done
    files+=("$file")
done

for file in "${files[@]}"; do
    selected=()
    for argument in "${arguments[@]}"; do
        if [[ $argument == "$file" ]]; then # the whole file, whatever else of it is named
            selected=("${left_out[@]}" "$file")
            break
        fi
        [[ ${argument%%::*} != "$file" ]] || selected+=("$argument")
    done
    run_pytest "${selected[@]}"
done
exit "$status"
