"""jansson's image: its run script, upstream's suite, and what variants are made of."""

from collections.abc import Mapping

import pytest

from harness.judging.languages.c.catalogue import running_text
from harness.judging.languages.c.discovery import discover, is_test_file
from harness.judging.languages.c.language import LANGUAGE, LIBRARY
from harness.judging.languages.variant_source import VariantSource
from harness.judging.testing.tap import read_tap
from harness.sandbox.protocol import JobResult
from harness.specs.test_results import Outcome
from harness.specs.variants import VariantKind
from tests.docker.conftest import Run

pytestmark = [pytest.mark.docker, pytest.mark.long]
REPO = "jansson"

API = "test/suites/api"
PASSES = b'#include "util.h"\nstatic void run_tests() {}\n'
FAILS = b'#include "util.h"\nstatic void run_tests() { fail("no"); }\n'


def printed(result: JobResult) -> str:
    return result.log.decode()


def test_ids_of_every_upstream_program_are_the_same_found_listed_and_reported(run: Run, tree: Mapping[str, bytes]):
    files = sorted(path for path in tree if is_test_file(path))
    assert len(files) == 18
    found = [(path, test.name) for path in files for test in discover(tree[path], path).tests]
    result = run("run_tests " + " ".join(f"{path}::{name}" for path, name in found))
    reports = [read_tap(result.outputs[f"{number}.tap"], path) for number, path in enumerate(files, start=1)]
    reported = [(case.test.file, case.test.name) for report in reports for case in report.cases]
    assert reported == found
    assert {case.outcome for report in reports for case in report.cases} == {Outcome.PASSED}
    assert result.exit_status == 0


def test_one_report_is_written_for_each_file_in_the_order_given(run: Run):
    files = {f"{API}/test_z.c": PASSES, f"{API}/test_a.c": FAILS}
    result = run(f"run_tests {API}/test_z.c {API}/test_a.c::test_a ./{API}/test_z.c", files)
    assert sorted(result.outputs) == ["1.tap", "2.tap"]
    assert read_tap(result.outputs["1.tap"], f"{API}/test_z.c").cases[0].outcome is Outcome.PASSED
    assert read_tap(result.outputs["2.tap"], f"{API}/test_a.c").cases[0].outcome is Outcome.FAILED


def test_the_exit_status_tells_failures_from_what_could_not_run(run: Run):
    expected = {
        f"{API}/test_passes.c": 0,
        f"{API}/test_passes.c {API}/test_fails.c": 1,
        f"{API}/test_fails.c {API}/test_broken.c": 2,
        f"{API}/test_absent.c": 2,
        f"{API}/test_passes.c::run_tests": 2,
        f"{API}/util.h": 2,
        "-x/test_a.c": 2,
    }
    files = {f"{API}/test_passes.c": PASSES, f"{API}/test_fails.c": FAILS, f"{API}/test_broken.c": b"none"}
    script = "; ".join(f"run_tests {arguments}; echo ended $?" for arguments in expected)
    lines = printed(run(script, files)).splitlines()
    ended = [int(line.split()[1]) for line in lines if line.startswith("ended ")]
    assert ended == list(expected.values())


def test_the_tree_stays_as_it_was(run: Run):
    everything = "find /app -type f -exec sha256sum {} + | sort"
    assert run(f'before=$({everything}); run_tests; test "$before" = "$({everything})"').exit_status == 0


def test_a_library_whose_sources_have_changed_is_built_anew(run: Run, tree: Mapping[str, bytes]):
    changed = tree["src/version.c"].replace(b"return JANSSON_VERSION;", b'return "0";')
    assert run(f"run_tests {API}/test_version.c").exit_status == 0
    result = run(f"run_tests {API}/test_version.c", {"src/version.c": changed})
    assert result.exit_status == 1
    assert printed(result).startswith("the library's sources have changed; building it\n")


def test_a_program_that_does_not_end_is_stopped(run: Run):
    endless = b'#include "util.h"\nstatic void run_tests() { for (;;); }\n'
    result = run(f"run_tests {API}/test_endless.c", {f"{API}/test_endless.c": endless}, TESTWRIGHT_TEST_SECONDS="1")
    assert result.exit_status == 1
    assert "ended: timed out" in result.outputs["1.tap"].decode()


def test_upstreams_suites_pass_on_a_library_of_which_every_function_is_rewritten_and_padded(
    run: Run, tree: Mapping[str, bytes]
):
    paths = [path for path in tree if path.startswith("src/") and path.endswith(".c")]
    code = {path: tree[path] for path in paths}
    family = {path: (tree[path], b"") for path in paths}
    inert = {path: (tree[path],) for path in paths}
    source = VariantSource("all", VariantKind.REWRITTEN, code, code, family=family, inert=inert, seed=4)
    result = run("run_tests", {path: running_text(source, path) for path in paths})
    assert "18 of 18 test programs passed" in printed(result)
    assert "4 test suites passed" in printed(result)
    assert result.exit_status == 0


def test_comments_behind_a_source_leave_its_code_as_it_was(run: Run, tree: Mapping[str, bytes]):
    lines = ["}", "*/ int x;", "ends in \\", "??/", "ends in \\"]
    text = LANGUAGE.code.commented(tree["src/utf.c"], lines)
    command = f"run_tests --library /tmp/a/library && cmp /tmp/a/library/library.a {LIBRARY}/library.a"
    result = run(command, {"src/utf.c": text})
    assert result.exit_status == 0, printed(result)


def test_nothing_in_the_library_names_a_function_that_is_not_public_to_its_files(run: Run):
    assert run(f"nm --defined-only {LIBRARY}/library.a | grep ' [a-z] ' | grep -v ' r '").exit_status == 1


def test_the_image_holds_no_second_copy_of_the_tests(run: Run):
    result = run(f"find / -xdev -name '*test_*.c' -not -path '/app/*' 2>/dev/null; ls {LIBRARY}")
    assert printed(result).split() == ["library.a", "sources"]


def test_the_image_holds_no_second_implementation(run: Run):
    names = "json_object_update_missing|json_dump_callback"
    everywhere = "/bin /etc /home /lib* /opt /root /sbin /srv /tmp /usr /var"
    assert printed(run(f"grep -rlEs '{names}' {everywhere}")).split() == [f"{LIBRARY}/library.a"]
