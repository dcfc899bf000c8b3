"""Options of every command that accepts tasks in the published layout."""

from pathlib import Path
from typing import Annotated

import typer

ImageMap = Annotated[
    Path | None,
    typer.Option("--image-map", help="YAML: published image or REPOSITORY@COMMIT to local tag (swe-atlas tasks)"),
]
AllCriteria = Annotated[bool, typer.Option("--all-criteria", help="Judge nice-to-haves as well (swe-atlas tasks)")]
