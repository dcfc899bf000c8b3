"""Differences between our verdict and the published verifier's, and the rule that causes each."""

import re
from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict

from harness.judging.verify.verdict import VerdictRecord
from harness.specs.grading import NO_RESULT
from harness.specs.reasons import ReasonCode, Verdict

WHY_PUBLISHED_TAKES: dict[ReasonCode, str] = {
    ReasonCode.EMPTY_SUBMISSION: "it counts production code as work; ours is stripped of it, and nothing is left",
    ReasonCode.PATCH_DOES_NOT_APPLY: "it judges the agent's own tree, whatever is in it",
    ReasonCode.PATCH_TOO_LARGE: "it has no limit on what is handed in",
    ReasonCode.MANIFEST_MISSING: "it reads lines that begin with a dash, whatever stands around them",
    ReasonCode.MANIFEST_UNPARSEABLE: "it reads lines that begin with a dash, whatever stands around them",
    ReasonCode.MANIFEST_UNKNOWN_TEST: "it ignores listed tests that it finds no result of",
    ReasonCode.MANIFEST_UNLISTED_TEST: "it never compares the patch's tests with the list, but for what a model says",
    ReasonCode.MANIFEST_AMBIGUOUS: "it counts every result of a listed name, whichever test it is of",
    ReasonCode.MANIFEST_DUPLICATE: "it ignores the file that a name is listed under, and so how often it is there",
    ReasonCode.MANIFEST_NOT_A_TEST: "it takes a model's word for what is a test",
    ReasonCode.ASSERTS_NOTHING: "it asks a model alone whether a test checks anything",
    ReasonCode.BASELINE_RED: "it ignores listed tests that are red on the code as it is",
    ReasonCode.BASELINE_SKIPPED: "it ignores listed tests that are skipped on the code as it is",
    ReasonCode.BASELINE_MISSING: "it ignores listed tests that leave no result",
    ReasonCode.FLAKY: "it runs the code as it is once, so a test that passes by chance counts",
    ReasonCode.PLACEBO_SENSITIVE: "it has no placebo: whoever notices that files have changed counts as noticing why",
    ReasonCode.SURVIVED_REMOVAL: "it runs the code without the task's part once",
    ReasonCode.KILL_NOT_REPEATED: "it runs nothing twice, and nothing apart from anything else",
    ReasonCode.KILLED_BY_COLLECTION: "it takes every error after the removal for a test that noticed it",
    ReasonCode.EXISTING_TEST_BROKEN: "it looks at listed tests alone",
    ReasonCode.ARM_TIMEOUT: "its own two test runs ended in time",
    ReasonCode.ARM_LIMIT: "its own two test runs stayed within the limits",
    ReasonCode.CRITERION_UNMET: "its judge is shown the whole patch, production code and all",
    ReasonCode.CONDUCT_REFUSED: "it never looks at how a suite comes to its results",
    ReasonCode.NEEDS_REVIEW: "it never looks at how a suite comes to its results",
    ReasonCode.FORGED_REPORT: "it believes every line of the log, whoever printed it",
    ReasonCode.UNSAFE_PATH: "it judges the agent's own tree, whatever is in it",
    ReasonCode.SANDBOX_LOST: "its own two test runs came to an end",
    ReasonCode.IMAGE_UNAVAILABLE: "its own image was there",
    ReasonCode.JUDGE_UNAVAILABLE: "it was decided without the judge",
    ReasonCode.JUDGE_UNPARSEABLE: "it was decided without the judge",
    ReasonCode.PROBE_UNAVAILABLE: "it has no probes",
    ReasonCode.PROVIDER_ERROR: "it was decided without the provider",
    ReasonCode.BUDGET_EXHAUSTED: "it was decided without money",
    ReasonCode.HARNESS_ERROR: "its own program met no error of its own",
}
"""Why a submission that has one of our reasons can be right for the published verifier."""
_OF_A_TEST = frozenset(
    {
        ReasonCode.BASELINE_RED,
        ReasonCode.BASELINE_SKIPPED,
        ReasonCode.BASELINE_MISSING,
        ReasonCode.FLAKY,
        ReasonCode.PLACEBO_SENSITIVE,
        ReasonCode.SURVIVED_REMOVAL,
    }
)
"""Reasons that the two runs of the test in question explain."""

WHY_OURS_TAKES: dict[ReasonCode, str] = {
    ReasonCode.SURVIVED_REMOVAL: "ours looks at the listed tests alone, the published one at all of the same name",
    ReasonCode.BASELINE_MISSING: "ours knows whose a result is by file and structure, the published one by its name",
    ReasonCode.PATCH_DOES_NOT_APPLY: "ours judges the tests alone; edits of production code are left out of it",
    ReasonCode.MANIFEST_MISSING: "ours finds names in a form that the published one doesn't read",
    ReasonCode.CRITERION_UNMET: "the judges were shown different patches: ours without production code",
}
"""Why a submission that the published verifier refuses can be right for us."""
_PARTS = re.compile(r"::| > | \| |(?<=\w)\.(?=\w)")
_OTHER_JUDGE = "the judge's answers differ: the two were shown different patches, or asked at different times"


class Disagreement(BaseModel):
    """A submission of which the two make different things. `why` has a sentence for each kind of reason of either."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ours: Verdict
    published: Verdict
    why: tuple[str, ...]


def disagreement(ours: VerdictRecord, published: VerdictRecord) -> Disagreement | None:
    """Return None where both accept a submission, both refuse it, or both leave it open. Pure."""
    if _accepts(ours.verdict) is _accepts(published.verdict):
        return None
    why = tuple(dict.fromkeys(_why(ours, published)))
    return Disagreement(ours=ours.verdict, published=published.verdict, why=why)


def _accepts(verdict: Verdict) -> bool | None:
    match verdict:
        case Verdict.RESOLVED:
            return True
        case Verdict.FAILED | Verdict.INVALID:
            return False
        case Verdict.UNSCORED:
            return None


def _why(ours: VerdictRecord, published: VerdictRecord) -> Iterator[str]:
    mine, theirs = _by_code(ours), _by_code(published)
    for code, subjects in mine.items():
        if code not in theirs:
            words = _takes(code, subjects[0], published)
            yield f"ours: {_named(code, subjects)}; the published verifier doesn't mind: {words}"
    for code, subjects in theirs.items():
        if code not in mine and code.verdict is not Verdict.UNSCORED:  # what it has left open is no rule of its
            words = WHY_OURS_TAKES.get(code, _OTHER_JUDGE)
            if code is ReasonCode.SURVIVED_REMOVAL and (seen := _fails_in_ours(subjects[0], ours)):
                words = f"ours saw {seen} fail without the code, whose results it tells by file and class"
            yield f"published: {_named(code, subjects)}; ours doesn't mind: {words}"


def _takes(code: ReasonCode, subject: str, published: VerdictRecord) -> str:
    """Return why the published verifier accepts what ours doesn't, by its runs of a test if there are any."""
    rows = [row for row in published.stages.mutation.tests if _own_name(row.test) == _own_name(subject)]
    if code not in _OF_A_TEST or not (rows and subject):
        return WHY_PUBLISHED_TAKES[code]
    before, after = rows[0].arms["baseline"], rows[0].arms["removal"]
    if before == NO_RESULT:
        return WHY_PUBLISHED_TAKES[ReasonCode.BASELINE_MISSING]
    if "passed" not in before:
        return f"it ignores listed tests that are {before} on the code as it is"
    seen = f"its two runs saw {before} with the code and {after} without it"
    return seen if code is ReasonCode.BASELINE_RED else f"{WHY_PUBLISHED_TAKES[code]}; {seen}"


def _fails_in_ours(name: str, ours: VerdictRecord) -> str:
    """Return the listed test that a published result may be of, if it fails without the code in our arms."""
    for row in ours.stages.mutation.tests:
        removals = [outcome for arm, outcome in row.arms.items() if arm.startswith("removal")]
        if _own_name(row.test) == _own_name(name) and any(item.startswith("failed") for item in removals):
            return row.test
    return ""


def _own_name(name: str) -> str:
    """Return the last part of a test's name, however its class and its file stand before it."""
    return " ".join(_PARTS.split(name)[-1].lower().split())


def _by_code(record: VerdictRecord) -> dict[ReasonCode, list[str]]:
    found: dict[ReasonCode, list[str]] = {}
    for reason in record.reasons:
        found.setdefault(reason.code, []).append(reason.subject)
    return found


def _named(code: ReasonCode, subjects: list[str]) -> str:
    more = f" and {len(subjects) - 1} more" if len(subjects) > 1 else ""
    return f"{code} ({subjects[0]}{more})" if subjects[0] else code
