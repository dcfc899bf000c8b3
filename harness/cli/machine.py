"""`testwright doctor` and `testwright clean`."""

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON")]


def doctor(as_json: Json = False) -> int:
    """Say what works on this machine and what to do about the rest. Status 1: something is missing."""
    from harness.authoring.doctor import doctor as examine
    from harness.report.machine_report import report_findings

    return report_findings(examine(), as_json)


def clean(
    images: Annotated[bool, typer.Option(help="Also remove the images that testwright built")] = False,
    cache: Annotated[bool, typer.Option(help="Also empty the cache directory")] = False,
    as_json: Json = False,
) -> int:
    """Remove every container of testwright on this machine, also those of runs that are at work."""
    from harness.report.machine_report import report_cleaning
    from harness.runs.cleaning import clean as sweep

    return report_cleaning(sweep(images, cache), as_json)
