"""Commands of plugins: each entry point of the group `testwright.commands` is a `typer.Typer` of subcommands."""

import sys

import typer

from harness.specs.errors import UserError
from harness.specs.registry import Registry

COMMANDS: Registry[typer.Typer] = Registry("command", "testwright.commands", {})
"""Groups of commands by name; `GROUP.NAME` stands within a group of the core, as `task.bug` for `testwright task bug`.

They come from plugins alone; their heavy imports belong into the commands.
"""


def add_plugin_commands(app: typer.Typer) -> None:
    """Add the commands of plugins. One that can't be imported is told on stderr and left out: the others work."""
    groups = {info.name: info.typer_instance for info in app.registered_groups}
    for name in COMMANDS.names:
        group, _, own = name.rpartition(".")
        try:
            (groups.get(group) or app).add_typer(COMMANDS.get(name), name=own)
        except UserError as error:
            print(f"testwright: {error}", file=sys.stderr)
