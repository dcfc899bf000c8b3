"""Prints what `doctor` found and what `clean` removed."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.text import Text

from harness.report.tables import console, table
from harness.specs.finding import Finding, Health

if TYPE_CHECKING:  # it imports every engine
    from harness.runs.cleaning import Cleaning

_STYLES = {Health.OK: "green", Health.DEGRADED: "yellow", Health.MISSING: "red"}


def report_findings(findings: Sequence[Finding], as_json: bool) -> int:
    """Returns 1 where something that is needed is missing."""
    if as_json:
        print(json.dumps([finding.model_dump(mode="json") for finding in findings], indent=2))
    else:
        rows = [
            (finding.name, Text(finding.health.value, style=_STYLES[finding.health]), finding.words)
            for finding in findings
        ]
        console().print(table(("what", "state", "in words"), rows))
    return 1 if any(finding.health is Health.MISSING for finding in findings) else 0


def report_cleaning(cleaning: "Cleaning", as_json: bool) -> int:
    if as_json:
        print(json.dumps(asdict(cleaning)))
        return 0
    words = f"{cleaning.containers} containers, {cleaning.images} images"
    volumes = f"{cleaning.volumes} volumes of toolboxes" if cleaning.volumes else ""
    cache = "the cache" if cleaning.cache else ""
    whole = ", ".join(filter(None, (words, volumes, cache)))
    in_use = f"{cleaning.containers_in_use} containers and {cleaning.images_in_use} images"
    if cleaning.is_done:
        console().print(Text(f"removed: {whole}"))
    else:
        console().print(Text(f"would be removed: {whole}. Nothing was removed; --yes does it"))
    if cleaning.containers_in_use or cleaning.images_in_use:
        console().print(Text(f"in use by other commands, and left: {in_use}; --all takes them too"), soft_wrap=True)
    return 0
