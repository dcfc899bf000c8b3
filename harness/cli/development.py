"""`testwright dev`: for developers of testwright, or of a program that talks to a model."""

from pathlib import Path
from typing import Annotated

import typer

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
    from harness.report.provider_log import serve_and_tell

    return serve_and_tell(scenario, port)
