"""Absent names: words of compilers and texts, what an agent's commands printed, columns and points of a run."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.agents.trajectory import ObservationRecord
from harness.judging.verify.intake import FileChange
from harness.models.protocol import Message, MessageRole
from harness.models.replay import MessageRecord
from harness.plugins.names.compilers import c_findings, go_findings
from harness.plugins.names.findings import Finding, Kind, NamesFile, Working, digest_of, keep_names
from harness.plugins.names.looking import added_lines
from harness.plugins.names.texts import c_text_findings, go_tags, go_text_findings, vocabulary
from harness.plugins.names.working import working_of
from harness.results.run_rows import load_rows
from harness.runs.trial_store import TrialStore
from tests.support.command import typed

CHECKOUT = Path(__file__).parents[2]
SAMPLE = CHECKOUT / "docs" / "sample-run"
SHIM = CHECKOUT / "harness" / "plugins" / "names" / "in_container" / "python"
FINDING = Finding(file="t.py", line=3, kind=Kind.MEMBER, name="absent", evidence="has no absent")


def names_in(findings) -> list[tuple[int, str, str]]:
    return [(each.line, each.kind.value, each.name) for each in findings]


def test_added_lines_are_those_that_a_file_did_not_have() -> None:
    change = FileChange("a.py", b"one\ntwo\n", b"one\nnew\ntwo\nnewer\n")
    gone = FileChange("b.py", b"one\n", None)
    assert added_lines([change, gone]) == {"a.py": frozenset({2, 4})}


GO = b"""\
# github.com/restic/restic/internal/restic_test
internal/restic/x_test.go:7:14: undefined: restic.Frobnicate
./internal/restic/x_test.go:8:4: d.Weeks undefined (type restic.Duration has no field or method Weeks)
internal/restic/x_test.go:9:20: unknown field 'Minutes' in struct literal of type restic.Duration
internal/restic/x_test.go:4:2: package example.org/absent is not in GOROOT (/usr/lib/go/src/example.org/absent)
internal/restic/duration.go:3:2: undefined: notTheSuites
internal/restic/x_test.go:11:2: x declared but not used
internal/restic/x_test.go:12:2: cannot use d (value of type restic.Duration) as type text in variable declaration:
	restic.Duration does not implement text (missing MarshalText method)
"""


def test_what_go_says_of_names_is_read_and_nothing_else() -> None:
    assert names_in(go_findings(GO, {"internal/restic/x_test.go": b""})) == [
        (7, "member", "Frobnicate"), (8, "member", "Weeks"), (9, "member", "Minutes"),
        (4, "module", "example.org/absent"), (12, "member", "MarshalText"),
    ]  # fmt: skip


C = b"""\
test/suites/api/test_x.c:7:9: warning: implicit declaration of function 'json_frob' [-Wimplicit-function-declaration]
test/suites/api/test_x.c:8:5: error: 'JSON_ABSENT' undeclared (first use in this function)
test/suites/api/test_x.c:9:10: error: 'json_t' has no member named 'weight'
test/suites/api/test_x.c:2:10: fatal error: jansson_absent.h: No such file or directory
/usr/bin/ld: /app/test/suites/api/test_x.c:12: undefined reference to `json_linked'
/usr/bin/ld: test_x.c:(.text+0x1f): undefined reference to `json_later'
test/suites/api/test_x.c:13:5: warning: unused variable 'x' [-Wunused-variable]
"""


def test_what_gcc_and_ld_say_of_names_is_read_and_nothing_else() -> None:
    text = {"test/suites/api/test_x.c": b"int a;\nint json_later(void);\n"}
    assert names_in(c_findings(C, text)) == [
        (7, "member", "json_frob"), (8, "member", "JSON_ABSENT"), (9, "member", "weight"),
        (2, "module", "jansson_absent.h"), (12, "member", "json_linked"), (2, "member", "json_later"),
    ]  # fmt: skip


HEADER = b"json_t *json_object(void); int json_a, json_b, json_c; void json_decref(json_t *);\n"


def test_a_c_name_of_the_librarys_prefix_that_nobody_has_is_found_in_dead_code_too() -> None:
    known = vocabulary({"src/jansson.h": HEADER})
    suite = b"""\
#if 0
json_frobnicate(1); /* json_in_a_comment */
#endif
static int json_helper(int json_argument) { return json_argument; }
#define json_macro(x) json_is_##x
#define json_check(x) check(json_a, x)

static void json_behind_a_macro(void) { json_check(1); }
char *text = "json_in_a_string"; void *p = dlsym(0, "json_looked_up");
int other_name = json_helper(json_a);
"""
    made = (
        b"#define RELEASING(f) static int f##_and_release(json_t *x) { return f(x); }\nx = json_b_and_release(y);\n"
    )
    texts = {"t.c": suite, "made.c": made, "test/.gitignore": b"json_absent_program\n"}
    found = names_in(c_text_findings(texts, known))
    assert found == [(2, "member", "json_frobnicate"), (9, "member", "json_looked_up")]


def test_go_names_that_are_looked_up_at_run_time_are_words_of_a_source() -> None:
    known = vocabulary({"a.go": b"type T struct { Hours int }\n"})
    suite = b'//go:build debug\npackage a\nvar _ = v.FieldByName("Hours")\nvar _ = v.MethodByName("Humanize")\n'
    assert names_in(go_text_findings({"a_test.go": suite}, known)) == [(4, "member", "Humanize")]
    assert go_tags([suite]) == ["debug"]


PRINTED = """\
E   AttributeError: module 'x' has no attribute 'y'
E   AttributeError: module 'x' has no attribute 'y'
ModuleNotFoundError: No module named 'z'
ERROR: No matching distribution found for reqeusts
an AttributeError: in prose, has no attribute
"""


def test_what_commands_printed_of_names_is_counted_once_a_command() -> None:
    def said(step: int, text: str) -> list[object]:
        return [
            ObservationRecord(
                step=step, command="ls", exit_status=1, seconds=1, output_bytes=9, truncated=0, timed_out=False
            ),
            MessageRecord(step=step, message=Message(role=MessageRole.USER, content=text)),
        ]

    found = working_of([*said(1, PRINTED), *said(2, "fine"), *said(3, PRINTED)])
    assert found == Working(commands=3, errors=4, packages=("reqeusts",))
    assert found.per_hundred is not None
    assert round(found.per_hundred) == 133


@pytest.fixture
def looked(tmp_path: Path) -> Path:
    """The sample run, of which two trials were looked at; one of them uses an absent name."""
    run = tmp_path / "run"
    shutil.copytree(SAMPLE, run)
    for trial, findings in (("oracle/none/1", ()), ("mini/*/2", (FINDING,))):
        [directory] = run.glob(f"trials/aiosmtpd-proxy-tlv/{trial}")
        submission = TrialStore(directory).submission()
        working = Working(commands=50, errors=2)
        keep_names(
            directory,
            NamesFile(
                task="aiosmtpd-proxy-tlv",
                submission=digest_of(submission.patch, submission.manifest),
                findings=findings,
                working=working,
            ),
        )
    return run


def test_absent_names_are_columns_of_show_report_and_compare(looked: Path, tmp_path: Path) -> None:
    rows = {row.trial: row for row in load_rows(looked).trials}
    with_name = next(row for row in rows.values() if row.signals["absent-names"] == 1)
    assert with_name.signals["name-errors"] == 4
    assert rows["aiosmtpd-proxy-tlv/oracle/none/1"].signals["absent-names"] == 0
    report = typed("report", looked, cwd=tmp_path).output
    assert "100% of suites" in report
    assert "Absent names are no verdict" in report
    assert "absent_names" in typed("show", looked, "--csv", "trials", cwd=tmp_path).output.splitlines()[0]
    compared = typed("compare", looked, "--a", "oracle", "--b", "mini", cwd=tmp_path).output
    assert "absent names: difference -100 percentage points (95% by task " in compared


def test_a_trials_page_has_what_is_told_beside_its_verdict(looked: Path, tmp_path: Path) -> None:
    assert typed("score", "write", looked, cwd=tmp_path).status == 0
    done = typed("report", looked, "--site", tmp_path / "site", cwd=tmp_path)
    assert done.status == 0, done.complaint
    pages = [path.read_text() for path in (tmp_path / "site").rglob("*.html")]
    assert sum("absent names 1, name errors per 100 commands 4, points " in text for text in pages) == 1
    assert any("Absent names are no verdict" in text for text in pages)
    assert any("Points are no verdict" in text for text in pages)


def test_a_look_at_another_submission_is_no_column(looked: Path) -> None:
    [file] = looked.glob("trials/aiosmtpd-proxy-tlv/oracle/none/1/names.json")
    file.write_text(json.dumps({**json.loads(file.read_text()), "submission": "0" * 64}))
    [row] = [row for row in load_rows(looked).trials if row.trial == "aiosmtpd-proxy-tlv/oracle/none/1"]
    assert row.signals["absent-names"] is None


def test_an_absent_name_takes_points_off_and_a_later_look_makes_a_score_old(looked: Path, tmp_path: Path) -> None:
    assert typed("score", "write", looked, cwd=tmp_path).status == 0
    [file] = looked.glob("trials/aiosmtpd-proxy-tlv/mini/*/2/score.json")
    [taken] = [each for each in json.loads(file.read_text())["deductions"] if each["id"] == "absent-name"]
    assert taken == {"id": "absent-name", "count": 1, "addend": -5.0}
    assert typed("score", "check", looked, cwd=tmp_path).status == 0
    names = file.with_name("names.json")
    names.write_text(names.read_text().replace('"absent"', '"other"'))
    assert "names is" in typed("score", "check", looked, cwd=tmp_path).output


SUITE = """\
import contextlib
from unittest import mock
import lib

def test_swallowed():
    with contextlib.suppress(Exception):
        lib.absent()

def test_patched():
    with mock.patch("lib.gone", create=True):
        assert lib.real(1) == 1

def test_keyword():
    try:
        lib.real(1, depth=2)
    except Exception:
        pass

def test_on_mock():
    double = mock.Mock()
    lib.use(double)
    double.nobody_has_this.assert_not_called()
    double.spoken.assert_called_once()

class Watched(dict):
    def __init__(self):
        self.accesses = 0

def test_honest():
    watched = Watched()
    assert watched.accesses == 0
    assert not hasattr(lib, "missing")
    assert getattr(lib, "missing", 3) == 3
    try:
        from optional import thing
    except ImportError:
        thing = None
    class Own:
        pass
    with contextlib.suppress(AttributeError):
        Own().missing
"""


def shim_findings(folder: Path, suite: str, lib: str, passed: int) -> list[tuple[int, str, str]]:
    """What the shim notes of a suite that runs beside `lib.py`."""
    (folder / "lib.py").write_text(lib)
    (folder / "test_it.py").write_text(suite)
    (folder / "out").mkdir()
    added = {"test_it.py": list(range(1, len(suite.splitlines()) + 1))}
    env = {
        **os.environ,
        "PYTHONPATH": f"{SHIM}{os.pathsep}{folder}",
        "PYTEST_PLUGINS": "testwright_plugin",
        "TESTWRIGHT_NAMES": str(folder / "out"),
        "TESTWRIGHT_ADDED": json.dumps(added),
    }
    words = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "-p", "no:cacheprovider", "--rootdir=."]
    done = subprocess.run([*words, "test_it.py"], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert f"{passed} passed" in done.stdout, done.stdout + done.stderr
    [report] = (folder / "out").iterdir()
    return sorted((each["line"], each["kind"], each["name"]) for each in json.loads(report.read_text()))


def test_the_python_shim_notes_absent_names_where_errors_are_swallowed(tmp_path: Path) -> None:
    lib = "def real(x):\n    return x\n\ndef use(thing):\n    thing.spoken()\n"
    assert shim_findings(tmp_path, SUITE, lib, passed=5) == [
        (7, "member", "absent"), (10, "member", "gone"), (15, "parameter", "depth"),
        (22, "on-mock", "nobody_has_this"),
    ]  # fmt: skip


OVERRIDES = """\
import lib

class Hooked(lib.Handler):
    def handle_data(self):
        return "data"

    def on_vanish(self):
        return "never asked"

    def handle_OTHER(self):
        return "looked up by its prefix"

    def own_helper(self):
        return 1

    def _private(self):
        return 2

class Apart:
    def on_vanish(self):
        return "no class of the code"

def test_hooked():
    assert lib.ask(Hooked()) == "data"
    assert Hooked().own_helper() == 1
"""


def test_a_method_that_overrides_nothing_and_that_nobody_calls_is_an_absent_name(tmp_path: Path) -> None:
    lib = """\
class Handler:
    def handle_data(self):
        return ""

def ask(handler):
    getattr(handler, "handle_" + "x", None)
    return handler.handle_data()
"""
    assert shim_findings(tmp_path, OVERRIDES, lib, passed=1) == [(7, "member", "on_vanish")]


def test_a_run_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    done = typed("names", "write", tmp_path / "nowhere", cwd=tmp_path)
    assert done.status == 2
    assert done.complaint.count("\n") == 1
