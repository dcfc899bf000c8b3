"""A scaffold's texts: Jinja2 templates, checked for mistakes before the first token is paid."""

import difflib
from collections.abc import Collection, Mapping
from pathlib import Path

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template, TemplateNotFound, UndefinedError, meta
from jinja2.exceptions import TemplateSyntaxError
from jinja2.loaders import split_template_path
from jinja2.nodes import Name

from harness.agents.template_files import template_file, template_path
from harness.specs.errors import UserError
from harness.specs.loading import read_text
from harness.specs.scaffold import Scaffold


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
        )
        self._templates = {name: self._load(name, known) for name, known in variables.items()}

    def render(self, name: str, **values: object) -> str:
        """Raises UserError where the template reaches for something that isn't there."""
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
        """A template's text and path; None where there is none. Raises TemplateNotFound for a path out of there."""
        path = template_path(self._scaffold, "/".join(split_template_path(file)))
        return (read_text(path), str(path), None) if path.is_file() else None

    def _check_names(self, path: Path, known: Collection[str]) -> None:
        tree = self._environment.parse(read_text(path))
        unknown = meta.find_undeclared_variables(tree) - set(known)
        for node in tree.find_all(Name):
            if node.name in unknown:
                close = difflib.get_close_matches(node.name, known, n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"it is given {', '.join(sorted(known))}"
                raise UserError(f"{path}:{node.lineno}: unknown variable {node.name!r}; {hint}")
