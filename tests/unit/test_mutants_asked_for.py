"""Which mutants a must-have asks for, by what known tests notice; and what `task check --mutants` refuses."""

import pytest

from harness.authoring.task_check.command import check
from harness.authoring.task_check.context import CheckOrder
from harness.authoring.task_check.unasked_mutants import SuiteKills, is_asked_for, lines_changed
from harness.judging.verify.mutants.records import MutantRecord, SourceRange
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.task_facts import Level, StepId
from tests.support.command import typed_beside


def mutant(line: int = 10, end_line: int = 10) -> MutantRecord:
    place = SourceRange(line=line, column=1, end_line=end_line, end_column=5)
    return MutantRecord(
        id="m",
        file="code.py",
        operator="EqualityOperator",
        place=place,
        original="==",
        replacement="!=",
        description="",
    )


def suite(name: str, probes: dict[str, str], mutants: dict[str, str]) -> SuiteKills:
    """The tests that notice each, a letter each."""
    return SuiteKills(
        name, {k: frozenset(v) for k, v in probes.items()}, {k: frozenset(v) for k, v in mutants.items()}
    )


@pytest.mark.parametrize(
    ("suites", "is_asked"),
    [
        ([suite("reference", {"1.1": "a"}, {"m": "a"})], True),
        ([suite("reference", {"1.1": "a"}, {"m": "b"})], False),
        ([suite("reference", {"1.1": "ab"}, {"m": "a"})], False),
        ([suite("reference", {"1.1": "ab", "1.2": "b"}, {"m": "b"})], True),
        ([suite("reference", {"1.1": ""}, {"m": "a"})], False),
        ([suite("reference", {"1.1": "a"}, {"m": "a"}), suite("lazy", {"1.1": "a"}, {"m": ""})], False),
        ([suite("reference", {"1.1": "a"}, {"m": "a"}), suite("lazy", {"1.1": "a"}, {})], True),
        ([suite("reference", {}, {"m": "a"})], False),
    ],
    ids=[
        "the test that notices the probe kills it",
        "another test kills it",
        "one of the tests that notice the probe lets it live",
        "one probe of two is enough",
        "a probe that nobody notices asks for nothing",
        "a test of the same name in another suite lets it live",
        "a suite that it never ran on says nothing",
        "no probe ran",
    ],
)
def test_a_mutant_is_asked_for_where_meeting_a_must_have_kills_it(suites, is_asked):
    assert is_asked_for(mutant(), {}, ["1.1", "1.2"], suites) is is_asked
    assert not is_asked_for(mutant(), {}, [], suites)


@pytest.mark.parametrize(("lines", "is_asked"), [({9}, False), ({10}, True), ({12}, True), ({13}, False)])
def test_a_mutant_of_a_line_that_a_probe_changes_is_asked_for(lines, is_asked):
    unnoticed = [suite("reference", {"1.1": "a"}, {"m": "b"})]
    assert is_asked_for(mutant(10, 12), {"code.py": lines}, ["1.1"], unnoticed) is is_asked
    assert not is_asked_for(mutant(10, 12), {"other.py": lines}, ["1.1"], unnoticed)


def test_the_lines_that_a_probe_changes_are_those_it_takes_or_stands_between():
    text = b"one\ntwo\nthree\nfour\n"
    assert lines_changed(text, b"one\n2\nthree\nfour\n") == {2}
    assert lines_changed(text, b"one\nfour\n") == {2, 3}
    assert lines_changed(text, b"one\ntwo\nnew\nthree\nfour\n") == {2, 3}
    assert lines_changed(text, text) == frozenset()


@pytest.mark.parametrize(
    ("level", "given", "words"),
    [
        (Level.QUICK, {"mutants": 5}, "--mutants runs tests, and --quick starts no container"),
        (
            Level.FULL,
            {"only": frozenset({StepId.MUTANTS})},
            "--only mutants: say how many are to be tried: --mutants 20",
        ),
        (Level.FULL, {"mutants": 5, "write": True}, "leave out --mutants"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_runs(tmp_path, level, given, words):
    given = dict(given)
    write, order = given.pop("write", False), CheckOrder(**given)
    with pytest.raises(UserError, match=words):
        check(Catalog(), {"aiosmtpd-proxy-tlv": level}, 1, lambda *_: None, tmp_path, write, order)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["aiosmtpd-proxy-tlv", "--quick", "--mutants", "5"], "leave out one of them"),
        (["swe-atlas:somewhere", "--mutants", "5"], "--mutants is for the catalog's own tasks"),
        (["swe-atlas:somewhere", "--records", "x"], "--records is for the catalog's own tasks"),
        (["technique:sign-in", "--records", "x", "--sample"], "--sample is for the catalog's own tasks"),
        (["aiosmtpd-proxy-tlv", "--mutants", "-1"], "--mutants"),
    ],
)
async def test_the_command_says_so_in_a_line(options, words, tmp_path):
    done = await typed_beside("task", "check", *options, cwd=tmp_path)
    assert (done.status, done.output) == (2, "")
    assert words in done.complaint
