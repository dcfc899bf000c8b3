"""Where our verdict and the published verifier's differ, and which rule causes the difference."""

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict

from harness.specs.reasons import ReasonCode, Verdict
from harness.verify.verdict import VerdictRecord

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
    ReasonCode.BASELINE_RED: "in its container git's history is there to ask, and red tests are ignored",
    ReasonCode.BASELINE_SKIPPED: "it ignores listed tests that are skipped on the code as it is",
    ReasonCode.BASELINE_MISSING: "it ignores listed tests that leave no result",
    ReasonCode.FLAKY: "it runs the code as it is once, so a test that passes by chance counts",
    ReasonCode.PLACEBO_SENSITIVE: "it has no placebo: whoever notices that files have changed counts as noticing why",
    ReasonCode.SURVIVED_REMOVAL: "it ignores listed tests without a green result, and takes any test of that name",
    ReasonCode.KILLED_BY_COLLECTION: "it takes every error after the removal for a test that noticed it",
    ReasonCode.EXISTING_TEST_BROKEN: "it doesn't run the tests that were there before",
    ReasonCode.ARM_TIMEOUT: "it reads what a run that doesn't end has printed so far",
    ReasonCode.ARM_LIMIT: "it reads what a run that is over its limits has printed so far",
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

WHY_OURS_TAKES: dict[ReasonCode, str] = {
    ReasonCode.SURVIVED_REMOVAL: "ours looks at the listed tests alone, the published one at all of the same name",
    ReasonCode.BASELINE_MISSING: "ours knows whose a result is by file and structure, the published one by its name",
    ReasonCode.PATCH_DOES_NOT_APPLY: "ours judges the tests alone; edits of production code are left out of it",
    ReasonCode.MANIFEST_MISSING: "ours reads the manifest as YAML, the published one by lines that begin with a dash",
    ReasonCode.CRITERION_UNMET: "the judges were shown different patches: ours without production code",
}
"""Why a submission that the published verifier refuses can be right for us."""
_OTHER_JUDGE = "the judge's answers differ: the two were shown different patches, or asked at different times"


class Disagreement(BaseModel):
    """A submission of which the two make different things. `why` has a sentence for each kind of reason of either."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ours: Verdict
    published: Verdict
    why: tuple[str, ...]


def disagreement(ours: VerdictRecord, published: VerdictRecord) -> Disagreement | None:
    """None where both accept a submission, both refuse it, or both leave it open. Pure."""
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
            words = WHY_PUBLISHED_TAKES[code]
            yield f"ours: {_named(code, subjects)}; the published verifier doesn't mind: {words}"
    for code, subjects in theirs.items():
        if code not in mine and code.verdict is not Verdict.UNSCORED:  # what it has left open is no rule of its
            words = WHY_OURS_TAKES.get(code, _OTHER_JUDGE)
            yield f"published: {_named(code, subjects)}; ours doesn't mind: {words}"


def _by_code(record: VerdictRecord) -> dict[ReasonCode, list[str]]:
    found: dict[ReasonCode, list[str]] = {}
    for reason in record.reasons:
        found.setdefault(reason.code, []).append(reason.subject)
    return found


def _named(code: ReasonCode, subjects: list[str]) -> str:
    more = f" and {len(subjects) - 1} more" if len(subjects) > 1 else ""
    return f"{code} ({subjects[0]}{more})" if subjects[0] else code
