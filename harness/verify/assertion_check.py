"""Stage 1, for tasks without probes: whether a suite checks anything, by its text."""

from collections.abc import Iterable
from dataclasses import replace

from harness.languages.protocol import Discovery
from harness.languages.registry import language_of
from harness.specs.ids import TestId
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.specs.task import Task
from harness.verify.intake import FileChange
from harness.verify.manifest_check import ManifestCheck, check_manifest


def check_suite(task: Task, manifest: bytes, changes: tuple[FileChange, ...]) -> ManifestCheck:
    """The manifest against the patch. Where probes can't show that tests check something, their text must."""
    language = language_of(task.repo)
    check = check_manifest(manifest, changes, language)
    if check.reasons or task.probes or asserts(check.tests, changes, language.discovery):
        return check
    words = "none of the listed tests checks anything, by its text and that of the functions that it calls"
    return replace(check, reasons=(Reason(code=ReasonCode.ASSERTS_NOTHING, stage=Stage.MANIFEST, words=words),))


def asserts(tests: Iterable[TestId], changes: tuple[FileChange, ...], discovery: Discovery) -> bool:
    """Whether any of these tests makes an assertion, or names a function of a changed file that makes one."""
    files = {change.path: discovery.discover(change.new or b"", change.path) for change in changes}
    found = [files[test.file].find(test.name) for test in tests if test.file in files]
    helpers = {helper.short for file in files.values() for helper in file.helpers if helper.assertions}
    return any(test.assertions or helpers & discovery.names(test.text) for test in found if test)
