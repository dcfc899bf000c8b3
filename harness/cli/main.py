"""The command `testwright`: its options, and what its exit status means.

0 did what was asked (whatever the verdicts), 1 something could not be scored or a check failed, 2 usage or
configuration error, 130 interrupted. Heavy imports are inside the commands, so that `--help` is fast.
"""

import errno
import gc
import os
import sys
from collections.abc import Sequence
from enum import Enum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from harness.cli import authoring_commands, catalog_commands, judging, machine, mutating_commands, reporting, running
from harness.cli.plugin_commands import add_plugin_commands

if TYPE_CHECKING:
    from harness.specs.catalog_places import CatalogPlace

app = typer.Typer(
    name="testwright",
    help="Says how well a coding agent writes tests.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run", epilog=running.EXAMPLES)(running.run)
app.command("show")(running.show)
app.command("report")(reporting.report)
app.command("view")(reporting.view)
app.command("compare")(reporting.compare)
app.command("verify")(judging.verify)
app.command("regrade")(judging.regrade)
app.add_typer(judging.judge_app, name="judge")
authoring_commands.add_to(catalog_commands.repo_app, catalog_commands.task_app)
mutating_commands.add_to(catalog_commands.task_app)
app.add_typer(catalog_commands.task_app, name="task")
app.add_typer(catalog_commands.repo_app, name="repo")
app.add_typer(catalog_commands.scaffold_app, name="scaffold")
app.add_typer(catalog_commands.model_app, name="model")
app.command("clean")(machine.clean)
app.command("doctor")(machine.doctor)
app.add_typer(machine.dev_app, name="dev")
add_plugin_commands(app)

# typer carries a click of its own and exports only some of its exceptions.
UsageError: type[Any] = typer.BadParameter.__bases__[0]
_INTERRUPTED = 130
_SAYS_WHAT_IS_LEFT = ("clean", "doctor")
_DISK_FAULTS = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG, errno.EIO, errno.ESTALE),
)
_FILE_FAULTS = (errno.ENOENT, errno.EISDIR, errno.ENOTDIR, errno.ELOOP, errno.EEXIST, errno.ENOTEMPTY)


def _version(is_asked: bool) -> None:
    if is_asked:
        from harness import __version__

        print(f"testwright {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", help="Print the version and exit", callback=_version, is_eager=True)
    ] = False,
    catalog: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]PLACE",
            help="A folder with tasks/, repos/ and rubrics/, URL@COMMIT of a git repository, or a package's catalog;"
            " several are taken [default: built-in]",
        ),
    ] = None,
) -> None:
    """Options of every command. Keys of model providers are read from the environment, or from .env here."""
    from harness.specs.secrets import adopt_dotenv

    adopt_dotenv(Path())
    context.obj = _places(catalog or ())
    if context.invoked_subcommand not in _SAYS_WHAT_IS_LEFT:
        machine.remove_what_died()


def _places(given: Sequence[str]) -> "tuple[CatalogPlace, ...]":
    if not given:
        return ()
    from harness.authoring.catalog_sources import places_of

    return places_of(given)


@cache
def command_line() -> Any:
    """Return the command with all that belong to it; the values of options have names, not Python's types."""
    made = typer.main.get_command(app)
    waiting = [made]
    while waiting:
        command = waiting.pop()
        waiting += getattr(command, "commands", {}).values()
        for parameter in command.params:
            _name_value(parameter)
    return made


def _name_value(parameter: Any) -> None:
    if not getattr(parameter, "is_flag", False) and parameter.metavar is None:
        parameter.metavar = _value_name(parameter)
    if parameter.param_type_name == "argument":  # typer writes the type behind an argument's name, whatever that is
        parameter.display_type_rich = lambda ctx: ""  # noqa: ARG005


def _value_name(parameter: Any) -> str | None:
    """Return what help calls the value of an option or argument; None where it lists the choices."""
    wanted = parameter.type_descriptor.annotation
    kinds = {kind for kind in (wanted, *get_args(wanted)) if isinstance(kind, type)}
    if any(issubclass(kind, Enum) for kind in kinds):
        return None
    names = {int: "N", float: "NUMBER", Path: "PATH"}
    return next((name for kind, name in names.items() if kind in kinds), parameter.name.upper())


def main() -> None:
    """Run the command line and exit with its status."""
    from harness.specs.signals import end_like_an_interrupt

    # Pydantic would look for its own plugins in every installed package: a fifth of the time of a quick command.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # What is imported stays: to look through it again and again is a sixth of the time that a client's import takes.
    gc.set_threshold(10_000, 20, 20)
    end_like_an_interrupt()
    sys.exit(status())


def status(arguments: Sequence[str] | None = None) -> int:
    """Run the command that `arguments` say, or the process's own, and return its exit status."""
    from harness.specs.errors import InfrastructureError, UserError

    try:
        result = command_line()(arguments, prog_name="testwright", standalone_mode=False)
    except UserError as error:
        return _complain(str(error), 2)
    except InfrastructureError as error:
        return _complain(str(error), 1)
    except UsageError as error:
        error.show()
        return 2
    except (KeyboardInterrupt, typer.Abort):
        result = _INTERRUPTED
    except BrokenPipeError:
        return 0
    except OSError as error:
        if error.errno in _DISK_FAULTS or (error.errno in _FILE_FAULTS and error.filename):
            return _complain(f"{error.filename or 'a file'}: {error.strerror}; what was written before is kept", 2)
        raise
    if result == _INTERRUPTED:  # also what typer makes of Ctrl-C inside a command
        return _complain("interrupted; what was done is kept, the same command goes on from there", _INTERRUPTED)
    return result if isinstance(result, int) else 0


def _complain(message: str, status: int) -> int:
    print(f"testwright: {message}", file=sys.stderr)
    return status
