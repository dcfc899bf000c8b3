"""A native scaffold's command, environment and files: templates, checked before anything is paid."""

import shlex
from dataclasses import dataclass

from jinja2 import Environment, StrictUndefined, TemplateSyntaxError, UndefinedError

from harness.sandbox.toolboxes.recipe import TOOLBOX
from harness.specs.errors import UserError
from harness.specs.native import NativeCommand
from harness.specs.scaffold import Scaffold

PLACE = "/tmp/testwright"
HOME = f"{PLACE}/home"
REQUEST_FILE = f"{PLACE}/request.md"
STDOUT, STDERR = f"{PLACE}/stdout", f"{PLACE}/stderr"
VARIABLES = ("model", "base_url", "token", "request", "request_file", "home", "toolbox", "workdir")
"""What these templates are given."""


@dataclass(frozen=True)
class Invocation:
    """A command as it is run: a line for bash, and the files that are laid out before it."""

    line: str
    files: dict[str, bytes]


class NativeTexts:
    """Raises UserError for a scaffold without a command, and for a template that can't work."""

    def __init__(self, scaffold: Scaffold) -> None:
        if scaffold.native is None:
            raise UserError(f"{scaffold.directory / 'scaffold.yaml'}: key 'native' is missing; docs/scaffolds.md")
        self._native: NativeCommand = scaffold.native
        self._where = scaffold.directory / "scaffold.yaml"
        self._environment = Environment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True)
        self.invocation(dict.fromkeys(VARIABLES, "x"))

    def invocation(self, values: dict[str, str]) -> Invocation:
        """`values` has all of VARIABLES."""
        native = self._native
        words = [self._render(f"command[{n}]", text, values) for n, text in enumerate(native.command)]
        program = words[0] if words[0].startswith("/") else f"{TOOLBOX}/bin/{words[0]}"
        env = {name: self._render(f"environment.{name}", text, values) for name, text in native.environment.items()}
        files = {
            f"{HOME}/{path}": self._render(f"files.{path}", text, values).encode()
            for path, text in native.files.items()
        }
        files[REQUEST_FILE] = values["request"].encode()
        assignments = [f"{name}={value}" for name, value in {"HOME": HOME, **env}.items()]
        line = shlex.join(["env", *assignments, program, *words[1:]])
        return Invocation(f"mkdir -p {HOME} && exec {line} </dev/null >{STDOUT} 2>{STDERR}", files)

    def _render(self, key: str, text: str, values: dict[str, str]) -> str:
        try:
            return self._environment.from_string(text).render(values)
        except UndefinedError as error:
            known = ", ".join(VARIABLES)
            raise UserError(f"{self._where}: native.{key}: {error}; it is given {known}") from None
        except TemplateSyntaxError as error:
            raise UserError(f"{self._where}: native.{key}: {error.message}") from None
