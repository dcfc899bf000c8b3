"""Commands of plugins: each entry point of the group `testwright.commands` is a `typer.Typer` of subcommands."""

import sys

import typer

from harness.specs.errors import UserError
from harness.specs.registry import Registry

COMMANDS: Registry[typer.Typer] = Registry("command", "testwright.commands", {})
"""Groups of commands by name. Those of `GROUP.NAME` stand within a group of the core: `task.bug` has `task bug`.

They come from plugins alone; their heavy imports belong into the commands.
"""


def add_plugin_commands(app: typer.Typer) -> None:
    """Add the commands of plugins. Name one that can't be imported on stderr and leave it out: the others work."""
    groups = {info.name: info.typer_instance for info in app.registered_groups}
    for name in COMMANDS.names:
        group = groups.get(name.partition(".")[0]) if "." in name else None
        try:
            commands = COMMANDS.get(name)
            if group:
                group.registered_commands += commands.registered_commands
            else:
                app.add_typer(commands, name=name)
        except UserError as error:
            print(f"testwright: {error}", file=sys.stderr)
