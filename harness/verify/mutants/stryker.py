"""Mutants in Stryker's published report format: mutation-testing-report-schema, version 2."""

import json
from collections.abc import Mapping

from harness.verify.mutants.records import MutantRecord, MutantsFile, Place

SCHEMA_VERSION = "2"


def stryker_report(file: MutantsFile, sources: Mapping[str, bytes], language: str) -> str:
    """JSON text. `sources` are the files as they are before any mutation."""
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


def _location(place: Place) -> dict[str, object]:
    return {
        "start": {"line": place.line, "column": place.column},
        "end": {"line": place.end_line, "column": place.end_column},
    }
