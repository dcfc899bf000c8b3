"""Stage 1 and everything else that a suite's text shows: its tests, whether they assert, the static criteria."""

from collections.abc import Iterable
from dataclasses import replace

from harness.languages.found import TooMuchToRead
from harness.languages.protocol import Discovery, Language
from harness.languages.registry import language_of
from harness.languages.remembering import RememberingDiscovery
from harness.specs.ids import TestId
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.specs.task import Task
from harness.testing.threads import Limit
from harness.verify.intake import FileChange
from harness.verify.manifest_check import ManifestCheck, check_manifest
from harness.verify.reading import READING, read_apart
from harness.verify.static_checks import holds


async def read_suite(
    task: Task, manifest: bytes, changes: tuple[FileChange, ...], limit: Limit = READING
) -> ManifestCheck:
    """`check_suite` off the event loop. What is too much to read is refused, and costs nobody but its submission."""
    try:
        return await read_apart(lambda: check_suite(task, manifest, changes), limit)
    except TooMuchToRead as error:
        return ManifestCheck(reasons=(too_much(error),))


def too_much(error: TooMuchToRead) -> Reason:
    return Reason(code=ReasonCode.PATCH_TOO_LARGE, stage=Stage.MANIFEST, words=str(error))


def check_suite(task: Task, manifest: bytes, changes: tuple[FileChange, ...]) -> ManifestCheck:
    """The manifest against the patch. Where probes can't show that tests check something, their text must.

    Each text is read once. Raises TooMuchToRead.
    """
    language = language_of(task.repo)
    language = replace(language, discovery=RememberingDiscovery(language.discovery))
    check = check_manifest(manifest, changes, language)
    if check.reasons:
        return check
    if not task.probes and not asserts(check.tests, changes, language):
        words = "none of the listed tests checks anything, by its text and that of the functions that it calls"
        return replace(check, reasons=(Reason(code=ReasonCode.ASSERTS_NOTHING, stage=Stage.MANIFEST, words=words),))
    return replace(check, static=_static(task, check.tests, changes, language.discovery))


def asserts(tests: Iterable[TestId], changes: tuple[FileChange, ...], language: Language) -> bool:
    """Whether any of these tests makes an assertion, or names a function of a changed file that makes one."""
    discovery = language.discovery
    code = [change for change in changes if change.path.endswith(language.suffixes)]
    files = {change.path: discovery.discover(change.new or b"", change.path) for change in code}
    found = [files[test.file].find(test.name) for test in tests if test.file in files]
    helpers = {helper.short for file in files.values() for helper in file.helpers if helper.assertions}
    return any(test.assertions or helpers & discovery.names(test.text) for test in found if test)


def _static(
    task: Task, tests: tuple[TestId, ...], changes: tuple[FileChange, ...], discovery: Discovery
) -> dict[str, bool]:
    checks = {criterion.id: criterion.static for criterion in task.rubric.criteria if criterion.static is not None}
    return {name: holds(check, tests, changes, discovery) for name, check in checks.items()}
