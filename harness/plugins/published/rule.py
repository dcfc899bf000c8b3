"""The published verifier's rules for files, names and the mutation stage. Pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from harness.judging.submission.manifest import FENCE, KEY, unquoted
from harness.judging.verify.verdict import TestRecord
from harness.plugins.published.parsed_log import ParsedTest
from harness.specs.grading import NO_RESULT
from harness.specs.reasons import Reason, ReasonCode, Stage

_FOLDERS = ("/test/", "/tests/", "_tests/")
_ENDINGS = ("_test.go", "_test.py", ".uts")
_RED = ("FAILED", "ERROR")


def is_test_path(path: str) -> bool:
    """Return what the published verifier takes for a test file."""
    path = path.lower()
    name = PurePosixPath(path).name
    return (
        path.startswith(("test/", "tests/"))
        or any(folder in path for folder in _FOLDERS)
        or path.endswith(_ENDINGS)
        or name.startswith("test_")
        or ".test." in name
        or ".spec." in name
    )


def listed_names(manifest: str) -> list[str]:
    """Return the names of a manifest: its lines that begin with a dash. The files that they stand under are ignored.

    Of several manifests between fences, the last whole one counts. One in JSON has the names in its strings: a list
    of names, or of objects with a list `tests`.
    """
    parts = manifest.split(FENCE)
    text = parts[(len(parts) - 1) // 2 * 2 - 1] if len(parts) >= 3 else manifest
    names = _json_names(text)
    if names is None:
        items = (line.strip()[1:].strip() for line in text.splitlines() if line.strip().startswith("-"))
        names = [unquoted(item) for item in items if not KEY.match(item)]
    return [name for name in dict.fromkeys(names) if name]


def _json_names(text: str) -> list[str] | None:
    """Return names of a manifest in JSON; None where it is no list or object of JSON."""
    if not text.lstrip().startswith(("[", "{")):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    entries = found if isinstance(found, list) else [found]
    below = [entry.get("tests") if isinstance(entry, dict) else [entry] for entry in entries]
    names = [name for each in below if isinstance(each, list) for name in each]
    return [name.strip() for name in names if isinstance(name, str)]


def found_as(name: str, parsed: Iterable[ParsedTest], *, underscored: bool = False) -> list[str]:
    """Return the names of a log that count as the one that a manifest lists.

    Args:
        name: A name of the manifest.
        parsed: The results of a log.
        underscored: Whether underscores and spaces in names are the same, as one published task has it.
    """
    offers = _listed_offers(name, underscored)
    return list(dict.fromkeys(test.name for test in parsed if _parsed_offers(test.name, underscored) & offers))


def log_records(
    names: Sequence[str], before: Sequence[ParsedTest], after: Sequence[ParsedTest], *, underscored: bool = False
) -> tuple[TestRecord, ...]:
    """Return the statuses of each listed name in the two runs: of the results that count for it, if any do."""
    runs = {"baseline": before, "removal": after}
    found = {
        name: {run: found_as(name, parsed, underscored=underscored) for run, parsed in runs.items()} for name in names
    }
    return tuple(
        TestRecord(test=name, arms={run: _statuses(found[name][run], parsed) for run, parsed in runs.items()})
        for name in names
    )


def _statuses(names: Sequence[str], parsed: Iterable[ParsedTest]) -> str:
    known = {test.name: test.status for test in parsed}
    return ", ".join(sorted({known[name].lower() for name in names})) or NO_RESULT


def judge_mutation(
    names: Sequence[str], before: Iterable[ParsedTest], after: Iterable[ParsedTest], *, underscored: bool = False
) -> tuple[Reason, ...]:
    """Return why the stage isn't passed: no listed test is green at baseline, or one stays so without the code."""
    listed = {offer for name in names for offer in _listed_offers(name, underscored)}
    passed = [test.name for test in before if test.status == "PASSED"]
    green = [name for name in passed if _parsed_offers(name, underscored) & listed]
    if not green:
        words = "no result of the log that passes on the code as it is has the name of a listed test"
        return (_reason(ReasonCode.BASELINE_MISSING, "", words),)
    statuses = {test.name: test.status for test in after}
    return tuple(_survival(name, statuses) for name in dict.fromkeys(green) if statuses.get(name) not in _RED)


def _survival(name: str, statuses: Mapping[str, str]) -> Reason:
    how = {"PASSED": "still passes", "SKIPPED": "is skipped"}.get(statuses.get(name, ""), "leaves no line in the log")
    return _reason(ReasonCode.SURVIVED_REMOVAL, name, f"it {how} after the removal")


def _normal(name: str) -> str:
    return " ".join(name.lower().split()).replace(" > ", " | ")


def _forms(offers: Iterable[str], underscored: bool) -> frozenset[str]:
    """Return the offers as they are compared: as they are, or all with underscores for spaces."""
    return frozenset(offer.replace(" ", "_") if underscored else offer for offer in offers)


def _parsed_offers(name: str, underscored: bool) -> frozenset[str]:
    """Return the names under which a parsed result is found."""
    whole = _normal(name)
    offers = {whole, whole.partition(" - ")[0]}
    for separator, joined in ((" | ", (" | ",)), ("::", ("::", "."))):
        parts = whole.split(separator)
        if len(parts) > 1:
            offers |= {parts[-1], *(glue.join(parts[-2:]) for glue in joined)}
    return _forms(offers, underscored)


def _listed_offers(name: str, underscored: bool) -> frozenset[str]:
    """Return what a name of the manifest may be found under."""
    whole = _normal(name)
    offers = {whole}
    if len(parts := whole.split(" | ")) > 1:
        offers.add(" | ".join(parts[-2:]))
    for separator in ("::", "."):
        if len(parts := whole.split(separator)) > 1:
            offers |= {parts[-1], separator.join(parts[-2:])}
    return _forms(offers, underscored)


def _reason(code: ReasonCode, subject: str, words: str) -> Reason:
    return Reason(code=code, stage=Stage.MUTATION, subject=subject, words=words)
