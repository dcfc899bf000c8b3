import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging.languages.registry import LANGUAGES
from harness.judging.submission.manifest import (
    MAX_MANIFEST_TESTS,
    ManifestError,
    format_manifest,
    parse_manifest,
    too_large,
)
from harness.specs.reasons import ReasonCode
from harness.specs.test_results import TestId

PYTHON = LANGUAGES.get("python").ids
GOOD = b"""
- file: tests/test_x.py
  tests:
    - "TestX.test_a"
    - test_b
"""


def code_of(data: bytes) -> ReasonCode:
    with pytest.raises(ManifestError) as caught:
        parse_manifest(data, PYTHON)
    return caught.value.code


def test_the_documented_form_is_read():
    assert parse_manifest(GOOD, PYTHON).tests == (
        TestId("tests/test_x.py", "TestX.test_a"),
        TestId("tests/test_x.py", "test_b"),
    )


def test_a_manifest_between_fence_lines_in_a_text_is_read():
    fenced = b"Here it is:\n<<TEST_MANIFEST>>" + GOOD + b"<<TEST_MANIFEST>>\nDone.\n"
    assert parse_manifest(fenced, PYTHON) == parse_manifest(GOOD, PYTHON)


def test_one_fence_line_alone_is_refused():
    assert code_of(b"<<TEST_MANIFEST>>" + GOOD) is ReasonCode.MANIFEST_UNPARSEABLE


def test_cases_stand_for_their_test_and_pytest_separators_are_understood():
    data = b'- file: ./tests/test_x.py\n  tests: ["TestX::test_a[1-2]", "TestX.test_a[3/4]"]\n'
    assert parse_manifest(data, PYTHON).tests == (TestId("tests/test_x.py", "TestX.test_a"),)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", ReasonCode.MANIFEST_MISSING),
        (b"[]", ReasonCode.MANIFEST_MISSING),
        (b"- file: a.py\n  tests: []\n", ReasonCode.MANIFEST_MISSING),
        (b"file: a.py", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"- a.py", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"- file: a.py\n  tests: test_a\n", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"- file: a.py\n  tests: [test_a]\n  extra: 1\n", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"- file: a.py\n  tests: [[a]]\n", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"- file: a.py\n  tests: [{a: b}]\n", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"- file: a.py\n  tests:\n    -\n", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"- file: a.py\n  tests: ['  ']\n", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"- file: a.py\n  tests: [test_a]\n---\n- file: b.py\n", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"- file: ../a.py\n  tests: [test_a]\n", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"- file: /app/a.py\n  tests: [test_a]\n", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"- file: [", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"\xff\xfe", ReasonCode.MANIFEST_UNPARSEABLE),
        (b'- file: a.py\n  tests: ["test_\\u202ea"]\n', ReasonCode.MANIFEST_UNPARSEABLE),
        (b'- file: a.py\n  tests: ["test_\\e[31ma"]\n', ReasonCode.MANIFEST_UNPARSEABLE),
        (b'- file: a.py\n  tests: ["test_\\u200da"]\n', ReasonCode.MANIFEST_UNPARSEABLE),
        (b"- &a {file: a.py, tests: [test_a]}\n- *a\n", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"- !!python/object/apply:os.system ['true']\n", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"- file: a.py\n  tests: [test_a, test_a]\n", ReasonCode.MANIFEST_DUPLICATE),
    ],
)
def test_what_is_not_a_manifest_is_refused_by_its_own_code(data, code):
    assert code_of(data) is code


def test_what_joins_emoji_or_letters_is_part_of_a_title() -> None:
    titles = ["takes \U0001f469\u200d\U0001f4bb", "\u0915\u094d\u200d\u0937 is a letter"]
    data = "- file: a.test.ts\n  tests:\n" + "".join(f"    - {title}\n" for title in titles)
    assert [test.name for test in parse_manifest(data.encode(), PYTHON).tests] == titles


def test_every_scalar_is_text() -> None:
    data = b"- file: 2001-01-01\n  tests: [1, yes, ~, 1.5, 0x1f, 1:30]\n"
    assert [test.name for test in parse_manifest(data, PYTHON).tests] == ["1", "yes", "~", "1.5", "0x1f", "1:30"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'- file: a.py\n  tests:\n    - !!int ""\n', "line 3: tags such as !!str are not allowed"),
        (b'- file: a.py\n  tests:\n    - !!bool "x"\n', "line 3: tags"),
        (b'- file: a.py\n  tests:\n    - !!timestamp "x"\n', "line 3: tags"),
        (b'- file: a.py\n  tests:\n    - !!binary "!"\n', "line 3: tags"),
        (b"- file: a.py\n  tests: !!set {a}\n", "line 2: tags"),
        (b"- file: a.py\n  tests:\n    - ! a\n", "line 3: tags"),
        (b"- file: a.py\n  tests: [a]\n  file: b.py\n", "line 3: key 'file' is there already, in line 1"),
        (b"- file: a.py\n  tests: &x [a]\n", "line 2: aliases and anchors"),
        (b"text\n<<TEST_MANIFEST>>\n- file: a.py\n  tests: [!!int 1]\n<<TEST_MANIFEST>>\n", "line 4: tags"),
        (b"- file: a.py\n  tests: [a]\n- b.py\n", "line 3: this entry is not a mapping"),
        (b"- file: a.py\n  tests: [a\x01]\n", "line 2: not YAML"),
        (b"- ? [a]\n  : b\n", "line 1: a key must be text"),
    ],
)
def test_what_is_wrong_with_a_manifest_is_said_with_its_line(data: bytes, said: str) -> None:
    with pytest.raises(ManifestError) as caught:
        parse_manifest(data, PYTHON)
    assert caught.value.code is ReasonCode.MANIFEST_UNPARSEABLE
    assert str(caught.value).startswith(said)


SHAPES = {
    "sexagesimal": lambda size: f"- file: a.py\n  tests: [{'1:' * (size // 2)}1]\n",
    "digits": lambda size: f"- file: a.py\n  tests: [{'1' * size}]\n",
    "underscores": lambda size: f"- file: a.py\n  tests: [{'1_' * (size // 2)}.]\n",
    "entries": lambda size: "- file: a.py\n  tests: [a, b]\n" * (size // 60) + "- x\n",
    "keys": lambda size: "- file: a.py\n" + "".join(f"  k{number}: 1\n" for number in range(size // 30)),
    "quoted": lambda size: '- file: "' + "\\x41" * (size // 4) + '"\n  tests: [1, 2, x]\n- x\n',
    "folded": lambda size: "- file: >\n" + "   a\n\n" * (size // 60) + "  tests: [a]\n",
    "brackets": lambda size: "[" * size,
    "braces": lambda size: "{a: " * (size // 4),
    "question marks": lambda size: "? " * (size // 2),
    "dashes": lambda size: "- " * (size // 2),
    "comments": lambda size: "#\n" * (size // 30) + "- x\n",
    "colons": lambda size: "- " + "a: " * (size // 3),
    "spaces": lambda size: "- file:" + " " * size + "a.py\n",
    "anchors": lambda size: "- &a" + "a" * size + " b\n",
    "directives": lambda size: "".join(f"%TAG !{number}! tag:x,1:\n" for number in range(size // 30)) + "--- a\n",
}


@pytest.mark.long
@pytest.mark.parametrize("shape", SHAPES)
def test_reading_is_linear_in_the_size_of_a_manifest(shape: str) -> None:
    def seconds(size: int) -> float:
        data = SHAPES[shape](size).encode()
        assert not too_large(data)
        spent = []
        for _ in range(3):
            started = time.process_time()
            with contextlib.suppress(ManifestError):
                parse_manifest(data, PYTHON)
            spent.append(time.process_time() - started)
        return min(spent)

    small, large = seconds(30_000), seconds(480_000)
    assert large < 0.2 + 16 * 2.5 * small
    assert large < 4


def test_a_million_lines_are_refused_without_being_parsed():
    assert code_of(b"- file: a.py\n" * 1_000_000) is ReasonCode.MANIFEST_UNPARSEABLE


def test_more_tests_than_the_cap_are_refused():
    many = "".join(f"    - test_{number}\n" for number in range(MAX_MANIFEST_TESTS + 1))
    assert code_of(f"- file: a.py\n  tests:\n{many}".encode()) is ReasonCode.MANIFEST_UNPARSEABLE


def test_deep_nesting_is_refused():
    assert code_of(b"[" * 100_000) is ReasonCode.MANIFEST_UNPARSEABLE


@given(st.binary(max_size=300))
def test_no_bytes_raise_anything_but_a_manifest_error(data):
    try:
        manifest = parse_manifest(data, PYTHON)
    except ManifestError:
        return
    assert manifest.tests


names = st.from_regex(r"[A-Za-z_][A-Za-z_0-9]{0,20}(\.[A-Za-z_][A-Za-z_0-9]{0,20})?", fullmatch=True)
files = st.from_regex(r"[a-z][a-z_0-9-]{0,10}(/[a-z][a-z_0-9 -]{0,10}){0,3}\.py", fullmatch=True)


@pytest.mark.long
@given(st.lists(st.builds(TestId, files, names), unique=True, min_size=1, max_size=20))
def test_a_written_manifest_reads_back_as_the_same_tests(tests):
    assert set(parse_manifest(format_manifest(tests).encode(), PYTHON).tests) == set(tests)


@pytest.mark.parametrize(
    ("language", "file", "listed", "name"),
    [
        ("python", "tests/test_x.py", "test_a[x]", "test_a"),
        ("python", "tests/test_x.py", "TestX::test_a[a/b::c]", "TestX.test_a"),
        ("python", "tests/test_x.py", "tests/test_x.py::test_a", "test_a"),
        ("python", "tests/test_x.py", "tests/test_x.py::TestX::test_a[1]", "TestX.test_a"),
        ("python", "tests/test_x.py", "tests/other.py::test_a", "tests/other.py.test_a"),
        ("go", "internal/x_test.go", "TestName/sub", "TestName"),
        ("go", "internal/x_test.go", "TestName/sub/deeper[0]", "TestName"),
        ("go", "internal/x_test.go", "internal/x_test.go::TestName", "TestName"),
        ("c", "test/test_x.c", "test_x", "test_x"),
        ("c", "test/test_x.c", "test_x/case", "test_x"),
        ("typescript", "src/x.test.ts", "reads a/b > of [1, 2]", "reads a/b > of [1, 2]"),
        ("typescript", "src/x.test.ts", "joins a::b", "joins a::b"),
        ("typescript", "src/x.test.ts", "src/x.test.ts::[empty]/", "[empty]/"),
    ],
)
def test_each_language_says_what_of_a_listed_id_is_a_case(language, file, listed, name):
    data = format_manifest([TestId(file, listed)]).encode()
    assert parse_manifest(data, LANGUAGES.get(language).ids).tests == (TestId(file, name),)
