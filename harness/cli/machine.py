"""`testwright doctor` and `testwright clean`."""

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON")]


def doctor(as_json: Json = False) -> int:
    """Say what works on this machine, and how to repair what doesn't. Status 1: something is missing."""
    from harness.authoring.doctor import doctor as examine
    from harness.report.machine_report import report_findings

    return report_findings(examine(), as_json)


def clean(
    everything: Annotated[bool, typer.Option("--all", help="Also what commands at work have")] = False,
    images: Annotated[bool, typer.Option(help="Also the images that testwright built, imported or pulled")] = False,
    cache: Annotated[bool, typer.Option(help="Also the cache directory")] = False,
    do: Annotated[bool, typer.Option("--yes", help="Remove it; without this, say what would be removed")] = False,
    as_json: Json = False,
) -> int:
    """Remove what ended commands have left on this machine. Without --yes, say what that is."""
    from harness.report.machine_report import report_cleaning
    from harness.runs.cleaning import Wanted
    from harness.runs.cleaning import clean as sweep

    return report_cleaning(sweep(Wanted(everything, images, cache), do), as_json)
