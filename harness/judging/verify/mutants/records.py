"""Records of mutants, as they are kept and exported. No verdict reads them.

Mutants in Stryker's published report format: mutation-testing-report-schema, version 2.
"""

import json
from collections.abc import Mapping
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from harness.specs.yaml_files import FileModel


class MutantStatus(StrEnum):
    """Stryker's states."""

    KILLED = "Killed"
    SURVIVED = "Survived"
    NO_COVERAGE = "NoCoverage"
    """No test failed, and none runs a line of it."""
    COMPILE_ERROR = "CompileError"
    RUNTIME_ERROR = "RuntimeError"
    """No test could be run on it: a module that can't be imported, a limit of the container."""
    TIMEOUT = "Timeout"
    IGNORED = "Ignored"
    """It is the same code, by the rule in its reason."""
    PENDING = "Pending"
    """The time was over before it ran."""

    @property
    def is_detected(self) -> bool:
        """Return whether the mutant counts as killed in the score."""
        return self in (MutantStatus.KILLED, MutantStatus.TIMEOUT)

    @property
    def is_undetected(self) -> bool:
        """Return whether the mutant counts as alive in the score."""
        return self in (MutantStatus.SURVIVED, MutantStatus.NO_COVERAGE)


class SourceRange(BaseModel):
    """Lines and columns count from 1; columns are characters. The end is behind the last character."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    line: int
    column: int
    end_line: int
    end_column: int


class MutantRecord(BaseModel):
    """One mutant and what became of it. `id` is the same for the same change of the same text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    file: str
    operator: str
    place: SourceRange
    original: str
    replacement: str
    description: str
    status: MutantStatus = MutantStatus.PENDING
    reason: str = ""
    killed_by: tuple[str, ...] = ()


class RemovedCoverage(BaseModel):
    """Coverage of the lines that the removal takes out, as the language's tool counts them.

    `lines` are those that can run, `reached` those that did. `branches` are None where the tool counts none. `missed`
    are the lines that no test runs, `FILE:LINE`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    lines: int
    reached: int
    branches: int | None = None
    taken: int | None = None
    missed: tuple[str, ...] = ()


class MutantsFile(FileModel):
    """`mutants.json`: the mutants that a suite was run on, beside its verdict.

    `candidates` is how many mutants there are of the removed lines, `asked` how many were wanted and `seed` how they
    were drawn. `why_none` says why none ran, where none did, `why_no_coverage` why lines weren't counted.
    """

    task: str
    seed: int
    asked: int
    candidates: int
    seconds: float = Field(default=0.0, description="of all containers together")
    tests: tuple[str, ...] = Field(default=(), description="those that are green at baseline: only they ran")
    mutants: tuple[MutantRecord, ...] = ()
    why_none: str = ""
    coverage: RemovedCoverage | None = None
    why_no_coverage: str = ""

    def count(self, status: MutantStatus) -> int:
        """Count the mutants with this status."""
        return sum(mutant.status is status for mutant in self.mutants)

    @property
    def score(self) -> float | None:
        """Detected of those that are valid, as Stryker has it; None where none is."""
        detected = sum(mutant.status.is_detected for mutant in self.mutants)
        valid = detected + sum(mutant.status.is_undetected for mutant in self.mutants)
        return detected / valid if valid else None


SCHEMA_VERSION = "2"


def stryker_report(file: MutantsFile, sources: Mapping[str, bytes], language: str) -> str:
    """Return a report in Stryker's JSON. `sources` are the files before any mutation."""
    numbers = {test: str(number) for number, test in enumerate(file.tests)}
    files = {
        path: {
            "language": language,
            "source": text.decode("utf-8", "replace"),
            "mutants": [_mutant(each, numbers) for each in file.mutants if each.file == path],
        }
        for path, text in sorted(sources.items())
    }
    tests = [{"id": number, "name": test} for test, number in numbers.items()]
    report = {
        "schemaVersion": SCHEMA_VERSION,
        "thresholds": {"high": 80, "low": 60},
        "framework": {"name": "testwright"},
        "config": {"task": file.task, "seed": file.seed, "asked": file.asked, "candidates": file.candidates},
        "files": files,
        "testFiles": {"tests": {"tests": tests}},
    }
    return json.dumps(report, indent=2, ensure_ascii=False) + "\n"


def _mutant(mutant: MutantRecord, numbers: Mapping[str, str]) -> dict[str, object]:
    facts: dict[str, object] = {
        "id": mutant.id,
        "mutatorName": mutant.operator,
        "replacement": mutant.replacement,
        "description": mutant.description,
        "location": _location(mutant.place),
        "status": mutant.status.value,
    }
    if mutant.reason:
        facts["statusReason"] = mutant.reason
    if mutant.killed_by:
        facts["killedBy"] = [numbers[test] for test in mutant.killed_by if test in numbers]
    return facts


def _location(place: SourceRange) -> dict[str, object]:
    return {
        "start": {"line": place.line, "column": place.column},
        "end": {"line": place.end_line, "column": place.end_column},
    }
