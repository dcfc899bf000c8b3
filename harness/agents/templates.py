"""A scaffold's texts: Jinja2 templates, checked for mistakes before the first token is paid.

`request_text` is the request as every agent gets it, from one template: the wish, the rules, the manifest, the
limits.
"""

import difflib
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import (
    BytecodeCache,
    Environment,
    FunctionLoader,
    StrictUndefined,
    Template,
    TemplateNotFound,
    UndefinedError,
    meta,
)
from jinja2.bccache import Bucket
from jinja2.exceptions import TemplateSyntaxError
from jinja2.loaders import split_template_path
from jinja2.nodes import Name
from jinja2.utils import LRUCache

from harness.judging.languages.registry import language_of
from harness.specs.catalog_places import default_directory
from harness.specs.errors import UserError
from harness.specs.scaffold import Scaffold
from harness.specs.task import Task
from harness.specs.yaml_files import read_text

REQUEST = "request.j2"
"""The request to every agent. A scaffold that has no such file of its own shares the one beside all scaffolds."""


def template_path(scaffold: Scaffold, file: str) -> Path:
    """Return a template by its file's name, whether or not it is there.

    What a run puts in its place comes first, then the scaffold's own, then the request that all share.
    """
    for name, path in scaffold.ablation.templates.items() if scaffold.ablation else ():
        if file == template_file(scaffold, name):
            return path
    own = scaffold.directory / file
    if file != REQUEST or own.is_file():
        return own
    beside = scaffold.directory.parent / REQUEST
    return beside if beside.is_file() else default_directory() / "scaffolds" / REQUEST


def template_file(scaffold: Scaffold, name: str) -> str | None:
    """Return the file's name of the template `name`; None where the scaffold names none."""
    return scaffold.templates.get(name, REQUEST if name == "request" else None)


_MOST_COMPILED = 200


class _Compiled(BytecodeCache):
    """Each template's code once in a process, by its place and text: every trial makes its agent anew."""

    def __init__(self) -> None:
        self._codes = LRUCache(_MOST_COMPILED)

    def load_bytecode(self, bucket: Bucket) -> None:
        """Give a template its code where it is known."""
        bucket.code = self._codes.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template's code."""
        self._codes[bucket.key, bucket.checksum] = bucket.code


_COMPILED = _Compiled()


@lru_cache(maxsize=100)
def _undeclared(text: str) -> tuple[tuple[int, str], ...]:
    """Return line and name of each use of a variable that a template doesn't set itself."""
    tree = Environment(autoescape=False).parse(text)
    names = meta.find_undeclared_variables(tree)
    return tuple((node.lineno, node.name) for node in tree.find_all(Name) if node.name in names)


class Templates:
    """The templates of `scaffold` named in `variables`, which maps each to the variables that it may use.

    Raises UserError for a template that is absent, isn't Jinja2 or uses a variable that it won't be given.
    """

    def __init__(self, scaffold: Scaffold, variables: Mapping[str, Collection[str]]) -> None:
        self._scaffold = scaffold
        # Texts for a model, not HTML: nothing is escaped. What an agent printed is a value, never a template.
        self._environment = Environment(
            loader=FunctionLoader(self._source),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,
            bytecode_cache=_COMPILED,
        )
        self._templates = {name: self._load(name, known) for name, known in variables.items()}

    def render(self, name: str, **values: object) -> str:
        """Return a template's text with these values.

        Raises:
            UserError: The template reaches for something that isn't there.
        """
        template = self._templates[name]
        try:
            return template.render(**values)
        except UndefinedError as error:
            raise UserError(f"{template.filename}: {error}") from None

    def _load(self, name: str, known: Collection[str]) -> Template:
        listing = self._scaffold.directory / "scaffold.yaml"
        file = template_file(self._scaffold, name)
        if file is None:
            raise UserError(f"{listing}: key 'templates.{name}' is missing")
        try:
            template = self._environment.get_template(file)
        except TemplateNotFound:
            raise UserError(f"{listing}: templates.{name}: there is no file {file!r} beside it") from None
        except TemplateSyntaxError as error:
            raise UserError(f"{template_path(self._scaffold, file)}:{error.lineno}: {error.message}") from None
        self._check_names(template_path(self._scaffold, file), known)
        return template

    def _source(self, file: str) -> tuple[str, str, None] | None:
        """Return a template's text and path; None where there is none.

        Raises TemplateNotFound for a path out of there.
        """
        path = template_path(self._scaffold, "/".join(split_template_path(file)))
        return (read_text(path), str(path), None) if path.is_file() else None

    def _check_names(self, path: Path, known: Collection[str]) -> None:
        for line, name in _undeclared(read_text(path)):
            if name not in known:
                close = difflib.get_close_matches(name, known, n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"it is given {', '.join(sorted(known))}"
                raise UserError(f"{path}:{line}: unknown variable {name!r}; {hint}")


REQUEST_VARIABLES = (
    "task_prompt",
    "is_whole_instruction",
    "workdir",
    "language",
    "id_form",
    "id_examples",
    "test_paths",
    "test_command",
    "steps",
    "wall_seconds",
    "cost_usd",
    "registries",
    "submit_command",
)


def request_values(task: Task, submit_command: str = "", phase: int = 1) -> dict[str, Any]:
    """Return the variables of the request's template. Without a command to submit with, an agent ends by stopping."""
    repo, limits = task.repo, task.file.limits
    ids = language_of(repo).ids
    return {
        "task_prompt": task.prompts[phase - 1],
        "is_whole_instruction": task.is_whole_instruction,
        "workdir": repo.workdir,
        "language": repo.language,
        "id_form": ids.words,
        "id_examples": ids.examples,
        "test_paths": repo.test_paths,
        "test_command": repo.test_command,
        "steps": limits.steps,
        "wall_seconds": limits.wall_seconds,
        "cost_usd": limits.cost_usd,
        "registries": [client.value for client in task.registries],
        "submit_command": submit_command,
    }


def request_text(task: Task, scaffold: Scaffold) -> str:
    """Return the request as plain text, for an agent that hands in by stopping.

    Raises:
        UserError: The template is broken.
    """
    return Templates(scaffold, {"request": REQUEST_VARIABLES}).render("request", **request_values(task))
