"""Tests as pytest and vitest collect them, in real containers, held against what the text of a suite shows."""

import asyncio
import difflib

import pytest

from harness.judging.submission.extraction import Submission
from harness.judging.verify.arms import arm_slots
from harness.judging.verify.collected import WITH, WITHOUT
from harness.judging.verify.examination import Examination
from harness.judging.verify.verification import read_submission
from harness.runs.engine_session import EngineSession
from harness.sandbox.git_tree import GitTree
from harness.specs.catalog import Catalog
from harness.specs.reasons import ReasonCode
from harness.tracks.registry import choose_engine
from tests.support.heard_arms import HeardArms

pytestmark = pytest.mark.docker

TASK = "itsdangerous-changed-keys"
NEW, OLD = "tests/test_itsdangerous/test_made.py", "tests/test_itsdangerous/test_url_safe.py"
SHOWN = "class Shared:\n    def test_shared(self):\n        assert 1\n\n\ndef made():\n    return Shared\n\n\n"
A_TEST = "def test_a():\n    assert 1\n\n\n"
IN_A_LOOP = (
    "def check(value):\n    return lambda: value\n\n\n"
    "for number in range(2):\n    globals()[f'test_made_{number}'] = check(number)\n"
)
A_BASE_BY_A_CALL = f"{SHOWN}class TestMade(made()):\n    def test_own(self):\n        assert 1\n"
TAKEN_BACK = "def test_a():\n    assert 1\n\n\ndef test_back():\n    assert 0\n\n\nvars().pop('test_back')\n"
"""Files of which no text shows all tests, or one too many."""
VITEST, VITEST_TASK = "src/v4/classic/tests/made.test.ts", "zod-stringbool"
BY_FUNCTIONS = """\
import { describe, expect, it, test } from "vitest";

function reads(word: string) {
  it(`reads ${word}`, () => expect(word).toBeTruthy());
}

function twice(check: typeof reads) {
  check("no");
  check("yes");
}

const also = { test };
also.test("is one of an object", () => expect(1).toBe(1));
describe("words", () => twice(reads));
if (process.env.NEVER) test("never", () => expect(1).toBe(2));
"""
"""A file in which a function makes tests within the block that calls it, and which has one that is never made."""


def read(text: str, listed: list[str], file: str = NEW, task_id: str = TASK) -> tuple[Examination, list[str]]:
    """What a submission is read as that adds a text to the end of a file, and the containers that collected tests."""

    async def ran() -> tuple[Examination, list[str]]:
        task, heard = Catalog().task(task_id), HeardArms()
        engine = choose_engine("docker")
        try:
            image = await engine.image(task)
            session = EngineSession(engine, {"testwright.run": "test-collected-tests"}, arm_slots(engine))
            context = session.arm_context(task, image, heard)
            tree = GitTree(image.tree)
            entries = await tree.entries()
            old = (await tree.read_all({file: entries[file]}))[file].decode() if file in entries else ""
            manifest = f"- file: {file}\n  tests: {listed}\n".encode()
            found = await read_submission(task, Submission(patch_of(file, old, old + text), manifest), context)
            return found, list(heard.results)
        finally:
            await engine.close()

    return asyncio.run(ran())


def patch_of(file: str, old: str, new: str) -> bytes:
    sides = (f"a/{file}" if old else "/dev/null", f"b/{file}")
    lines = difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), *sides)
    mode = "" if old else "new file mode 100644\n"
    return f"diff --git a/{file} b/{file}\n{mode}{''.join(lines)}".encode()


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        (IN_A_LOOP, ["test_made_0", "test_made_1"]),
        (A_BASE_BY_A_CALL, ["TestMade.test_own", "TestMade.test_shared"]),
        (TAKEN_BACK, ["test_a"]),
    ],
    ids=["in a loop", "a base by a call", "taken back"],
)
def test_a_manifest_lists_what_pytest_collects(text: str, listed: list[str]) -> None:
    found, ran = read(text, listed)
    assert [test.name for test in found.check.tests] == listed
    assert found.check.reasons == ()
    assert ran == [str(WITH)]


@pytest.mark.parametrize(
    ("text", "listed", "code", "subject", "words"),
    [
        (
            f"{A_TEST}{IN_A_LOOP}", ["test_a", "test_made_0"], ReasonCode.MANIFEST_UNLISTED_TEST, "test_made_1",
            "the text shows test_a; the runner collects test_a, test_made_0, test_made_1",
        ),
        (
            TAKEN_BACK, ["test_a", "test_back"], ReasonCode.MANIFEST_NOT_A_TEST, "test_back",
            "the text shows test_a, test_back; the runner collects test_a",
        ),
        (
            f"{A_TEST}{IN_A_LOOP}", ["test_a", "test_made_0", "test_made_1", "test_made_2"],
            ReasonCode.MANIFEST_UNKNOWN_TEST, "test_made_2", "no test of this name",
        ),
        (
            f"from os.path import *\n\n\n{A_TEST}globals()['test_junk'] = lambda: None\n", ["test_a"],
            ReasonCode.MANIFEST_UNLISTED_TEST, "test_junk", "the runner collects test_a, test_junk",
        ),
    ],
    ids=["not listed", "taken back and listed", "never made", "behind an import of everything"],
)  # fmt: skip
def test_a_difference_is_a_reason_with_both_lists(
    text: str, listed: list[str], code: ReasonCode, subject: str, words: str
) -> None:
    found, _ = read(text, listed)
    [reason] = found.check.reasons
    assert (reason.code, reason.subject) == (code, f"{NEW}::{subject}")
    assert words in reason.words


def test_what_was_there_before_is_held_whatever_is_collected() -> None:
    """Its arms show that pytest doesn't collect it any more."""
    found, ran = read(f"{A_TEST}TestURLSafeSerializer = type('TestURLSafeSerializer', (), {{}})\n", ["test_a"], OLD)
    assert (found.check.reasons, ran) == ((), [str(WITH), str(WITHOUT)])
    assert f"{OLD}::TestURLSafeSerializer.test_serializer" in map(str, found.check.existing)
    assert (found.check.whole, found.check.whole_before) == ((OLD,), (OLD,))


def test_an_ordinary_suite_is_read_from_its_text_alone() -> None:
    found, ran = read(A_TEST, ["test_a"])
    assert (found.check.reasons, ran) == ((), [])


def test_a_file_that_cannot_be_loaded_has_the_tests_that_its_text_shows() -> None:
    found, ran = read(f"{A_TEST}test_b = undefined\n", ["test_a"])
    assert (found.check.reasons, ran) == ((), [str(WITH)])


def test_a_class_of_tests_that_a_file_imports_needn_t_be_listed() -> None:
    """pytest collects it once more there; only one of the patch's own files has to be."""
    found, ran = read(f"from test_itsdangerous.test_signer import TestSigner\n\n\n{A_TEST}", ["test_a"])
    assert (found.check.reasons, ran) == ((), [str(WITH)])
    assert f"{NEW}::TestSigner.test_signer" in map(str, found.check.unlisted)


@pytest.mark.parametrize(
    "listed", [["words > reads ${word}"], ["words > reads no", "words > reads yes"]], ids=["template", "as reported"]
)
def test_what_a_function_makes_within_a_block_has_the_block_s_name(listed: list[str]) -> None:
    found, ran = read(BY_FUNCTIONS, ["is one of an object", *listed], VITEST, VITEST_TASK)
    assert (found.check.reasons, ran) == ((), [str(WITH)])
    assert found.check.unchecked == ()


@pytest.mark.parametrize(
    ("listed", "code", "subject"),
    [
        (["is one of an object", "words > reads no"], ReasonCode.MANIFEST_UNLISTED_TEST, "reads ${word}"),
        (["is one of an object", "reads ${word}", "never"], ReasonCode.MANIFEST_NOT_A_TEST, "never"),
        (["reads ${word}", "words > reads now"], ReasonCode.MANIFEST_UNLISTED_TEST, "is one of an object"),
    ],
    ids=["not all", "never made", "not listed"],
)
def test_a_difference_to_what_vitest_collects_is_a_reason(listed: list[str], code: ReasonCode, subject: str) -> None:
    found, ran = read(BY_FUNCTIONS, listed, VITEST, VITEST_TASK)
    assert ran == [str(WITH)]
    assert (code, f"{VITEST}::{subject}") in [(reason.code, reason.subject) for reason in found.check.reasons]
