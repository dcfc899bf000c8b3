"""Prints what `testwright task stub` made: the diff, what compiles, what a test could take for right."""

import dataclasses
import json
from collections.abc import Sequence

from rich.text import Text

from harness.report.plain import printable
from harness.report.tables import console
from harness.specs.stub_facts import StubbedPatch


def report_stubs(made: Sequence[StubbedPatch], as_json: bool) -> int:
    """Status 1: one doesn't compile, and nothing was written."""
    if as_json:
        facts = [dataclasses.asdict(patch) | {"path": str(patch.path), "compiles": patch.compiles} for patch in made]
        print(json.dumps(facts, indent=2))
    else:
        for patch in made:
            _tell(patch)
    return 0 if all(patch.compiles for patch in made) else 1


def _tell(patch: StubbedPatch) -> None:
    out = console()
    state = "written" if patch.is_written else "not written"
    out.print(Text(f"{patch.path.name} ({patch.kind}, {state})"), soft_wrap=True)
    out.print(Text(printable(patch.diff)), soft_wrap=True)
    said = "compiles" if patch.compiles else f"does not compile: {patch.said}"
    out.print(Text(f"{patch.path.name}: {printable(said)}"), soft_wrap=True)
    for warning in patch.warnings:
        out.print(Text(f"{patch.path.name}: warning: {printable(warning)}"), soft_wrap=True)
    out.print()
