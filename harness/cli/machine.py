"""`testwright doctor` and `testwright clean`.

`testwright dev`: for developers of testwright, or of a program that talks to a model.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON")]


def doctor(as_json: Json = False) -> int:
    """Say what works on this machine, and how to repair what doesn't. Status 1: something is missing."""
    from harness.authoring.doctor import doctor as examine
    from harness.results.report.catalog_report import report_findings

    return report_findings(examine(), as_json)


def clean(
    everything: Annotated[bool, typer.Option("--all", help="Also what commands at work have")] = False,
    images: Annotated[bool, typer.Option(help="Also the images that testwright built, imported or pulled")] = False,
    cache: Annotated[bool, typer.Option(help="Also the cache directory")] = False,
    do: Annotated[bool, typer.Option("--yes", help="Remove it; without this, say what would be removed")] = False,
    as_json: Json = False,
) -> int:
    """Remove what ended commands have left on this machine. Without --yes, say what that is."""
    from harness.results.report.catalog_report import report_cleaning
    from harness.runs.owners import CleaningOptions
    from harness.runs.owners import clean as sweep

    return report_cleaning(sweep(CleaningOptions(everything, images, cache), do), as_json)


def remove_what_died() -> None:
    """Remove the containers of killed commands. Where there are none, this costs the listing of a directory."""
    from harness.sandbox.cache_place import sandboxes_with_dead_owners

    if not sandboxes_with_dead_owners():
        return
    from harness.runs.owners import reap_here

    if count := reap_here():
        print(f"testwright: removed {count} containers that a killed command had left", file=sys.stderr)


dev_app = typer.Typer(help="For developers.", no_args_is_help=True)


@dev_app.callback()
def options() -> None:
    """For developers."""


@dev_app.command()
def provider(
    scenario: Annotated[Path, typer.Argument(help="YAML file that says what the provider answers")],
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one", min=0, max=65535)] = 0,
) -> int:
    """Serve a scripted model provider: OpenAI's and Anthropic's protocols, no model behind it. Ctrl-C ends it."""
    from harness.models.stand_ins import SCRIPTED, STAND_INS

    return STAND_INS.get(SCRIPTED).serve_and_tell(scenario, port)
