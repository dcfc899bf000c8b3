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
    images: Annotated[bool, typer.Option(help="Also remove the images that testwright built")] = False,
    cache: Annotated[bool, typer.Option(help="Also empty the cache directory")] = False,
    as_json: Json = False,
) -> int:
    """Remove all containers of testwright on this machine, also those of active runs."""
    from harness.report.machine_report import report_cleaning
    from harness.runs.cleaning import clean as sweep

    return report_cleaning(sweep(images, cache), as_json)
