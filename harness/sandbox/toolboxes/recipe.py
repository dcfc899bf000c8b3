"""What a toolbox is made from, and the names computed from it."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from harness.sandbox.images.recipe import base_recipe, digest_of
from harness.specs.errors import UserError
from harness.specs.scaffold import Scaffold

TOOLBOX = "/opt/testwright"
"""Where sandboxes find it. Loaders in it know this path; it may have at most 19 characters."""
PYTHON = f"{TOOLBOX}/bin/python3"
HASHES = "SHA256SUMS"
_DIGITS = 12
_OWN = ("Dockerfile", "assemble.py")
_PROGRAMS = "programs.json"


@dataclass(frozen=True)
class ToolboxRecipe:
    """`digest` is over the scaffold's locks, the names of its programs and what makes toolboxes here."""

    scaffold: Scaffold
    digest: str

    @property
    def tag(self) -> str:
        """Of the image that holds nothing but the toolbox."""
        return f"testwright/{self.scaffold.catalog_name}-toolbox:{self.digest[:_DIGITS]}"

    @property
    def volume(self) -> str:
        return f"testwright-{self.scaffold.catalog_name}-toolbox-{self.digest[:_DIGITS]}"

    def lay_out(self, context: Path) -> None:
        """Copy all that a build sees to an empty directory."""
        for name in _OWN:
            shutil.copy(Path(__file__).with_name(name), context / name)
        for name in self.scaffold.install.locks:
            shutil.copy(self.scaffold.directory / name, context / name)
        (context / _PROGRAMS).write_bytes(_programs(self.scaffold))


def read_toolbox_recipe(scaffold: Scaffold) -> ToolboxRecipe:
    """Raises UserError where a lock is absent."""
    parts = {name: Path(__file__).with_name(name).read_bytes() for name in _OWN}
    for name in scaffold.install.locks:
        path = scaffold.directory / name
        if not path.is_file():
            raise UserError(f"{path}: scaffold.yaml installs with {scaffold.install.installer}, and it isn't there")
        parts[name] = path.read_bytes()
    parts[_PROGRAMS] = _programs(scaffold)
    parts["base"] = base_recipe().read_bytes()
    return ToolboxRecipe(scaffold, digest_of(parts))


def _programs(scaffold: Scaffold) -> bytes:
    return json.dumps(scaffold.install.programs, sort_keys=True).encode()
