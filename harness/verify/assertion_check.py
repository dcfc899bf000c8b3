"""Stage 1 and everything else that a suite's text shows: its tests, whether they assert, the static criteria."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from harness.languages.found import TestFile, TestFunction, TooMuchToRead
from harness.languages.protocol import Discovery, Language
from harness.languages.registry import language_of
from harness.languages.remembering import RememberingDiscovery
from harness.specs.ids import TestId
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.specs.task import Task
from harness.testing.threads import Limit
from harness.verify.conduct import look_at_conduct
from harness.verify.intake import FileChange
from harness.verify.manifest_check import ManifestCheck, check_manifest
from harness.verify.program_limit import too_many_programs
from harness.verify.reading import READING, read_apart
from harness.verify.static_checks import holds

NOTHING: Mapping[str, bytes] = MappingProxyType({})


async def read_suite(
    task: Task,
    manifest: bytes,
    changes: tuple[FileChange, ...],
    limit: Limit = READING,
    language: Language | None = None,
    around: Mapping[str, bytes] = NOTHING,
) -> ManifestCheck:
    """`check_suite` off the event loop. What is too much to read is refused, and costs nobody but its submission."""
    try:
        return await read_apart(lambda: check_suite(task, manifest, changes, language, around), limit)
    except TooMuchToRead as error:
        return ManifestCheck(reasons=(too_much(error),))


def too_much(error: TooMuchToRead) -> Reason:
    return Reason(code=ReasonCode.PATCH_TOO_LARGE, stage=Stage.MANIFEST, words=str(error))


def check_suite(
    task: Task,
    manifest: bytes,
    changes: tuple[FileChange, ...],
    language: Language | None = None,
    around: Mapping[str, bytes] = NOTHING,
) -> ManifestCheck:
    """The manifest against the patch. Where probes can't show that tests check something, their text must.

    `language` is what tests are found with, the repository's where it isn't given. `around` are files that helpers of
    the tests may be in. Each text is read once. Raises TooMuchToRead.
    """
    language = language or language_of(task.repo)
    language = replace(language, discovery=RememberingDiscovery(language.discovery))
    check = check_manifest(manifest, changes, language)
    if check.reasons:
        return check
    if refusal := too_many_programs(task, (*check.tests, *check.existing)):
        return replace(check, reasons=(refusal,))
    unchecked = without_check(check.tests, changes, language, around)
    if not task.probes and len(unchecked) == len(check.tests):
        words = "none of the listed tests checks anything, by its text and that of the functions that it calls"
        return replace(check, reasons=(Reason(code=ReasonCode.ASSERTS_NOTHING, stage=Stage.MANIFEST, words=words),))
    static = _static(task, check.tests, changes, language.discovery)
    conduct = look_at_conduct(task, changes, language)
    return replace(check, static=static, conduct=conduct, unchecked=unchecked)


def without_check(
    tests: Iterable[TestId],
    changes: tuple[FileChange, ...],
    language: Language,
    around: Mapping[str, bytes] = NOTHING,
) -> tuple[TestId, ...]:
    """Those that make no assertion, neither in their text nor in a function that they name of these files.

    What a changed file defines isn't what other files have by that name.
    """
    discovery = language.discovery
    code = [
        change for change in changes if change.path.endswith(language.suffixes) or discovery.is_test_file(change.path)
    ]
    files = {change.path: discovery.discover(change.new or b"", change.path) for change in code}
    own = {helper.short: helper for file in files.values() for helper in file.helpers}
    others = (discovery.discover(text, path) for path, text in around.items() if path not in files)
    helpers = {helper.short for file in others for helper in file.helpers if helper.assertions} - own.keys()
    helpers |= {helper.short for file in files.values() for helper in file.helpers if helper.assertions}

    def checks(test: TestFunction | None) -> bool:
        return bool(test and (test.assertions or helpers & discovery.names(test.text)))

    def found(test: TestId) -> bool:
        item = files[test.file].find(test.name) if test.file in files else None
        if not checks(item):
            return False
        is_upstreams = bool(item and item.origin not in {"", *files})
        return len(code) == 1 or is_upstreams or checks(_with_others(test.file, code, discovery).find(test.name))

    return tuple(test for test in tests if not found(test))


def _with_others(path: str, code: Iterable[FileChange], discovery: Discovery) -> TestFile:
    """A file's tests where it had the functions of the other changed files in it: these count as what they do."""
    texts = sorted((change.path != path, change.path, change.new or b"") for change in code)
    return discovery.discover(b"\n\n".join(text for _, _, text in texts), path)


def _static(
    task: Task, tests: tuple[TestId, ...], changes: tuple[FileChange, ...], discovery: Discovery
) -> dict[str, bool]:
    checks = {criterion.id: criterion.static for criterion in task.rubric.criteria if criterion.static is not None}
    return {name: holds(check, tests, changes, discovery) for name, check in checks.items()}
