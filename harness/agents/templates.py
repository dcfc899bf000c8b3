"""A scaffold's texts: Jinja2 templates, checked for mistakes before the first token is paid."""

import difflib
from collections.abc import Collection, Mapping

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template, TemplateNotFound, UndefinedError, meta
from jinja2.exceptions import TemplateSyntaxError
from jinja2.nodes import Name

from harness.specs.errors import UserError
from harness.specs.scaffold import Scaffold


class Templates:
    """The templates of `scaffold` named in `variables`, which maps each to the variables that it may use.

    Raises UserError for a template that is absent, isn't Jinja2 or uses a variable that it won't be given.
    """

    def __init__(self, scaffold: Scaffold, variables: Mapping[str, Collection[str]]) -> None:
        self._scaffold = scaffold
        # Texts for a model, not HTML: nothing is escaped. What an agent printed is a value, never a template.
        self._environment = Environment(
            loader=FileSystemLoader(scaffold.directory),
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
        if name not in self._scaffold.templates:
            raise UserError(f"{listing}: key 'templates.{name}' is missing")
        file = self._scaffold.templates[name]
        try:
            template = self._environment.get_template(file)
        except TemplateNotFound:
            raise UserError(f"{listing}: templates.{name}: there is no file {file!r} beside it") from None
        except TemplateSyntaxError as error:
            raise UserError(f"{self._scaffold.directory / file}:{error.lineno}: {error.message}") from None
        self._check_names(file, known)
        return template

    def _check_names(self, file: str, known: Collection[str]) -> None:
        path = self._scaffold.directory / file
        tree = self._environment.parse(path.read_text(encoding="utf-8"))
        unknown = meta.find_undeclared_variables(tree) - set(known)
        for node in tree.find_all(Name):
            if node.name in unknown:
                close = difflib.get_close_matches(node.name, known, n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"it is given {', '.join(sorted(known))}"
                raise UserError(f"{path}:{node.lineno}: unknown variable {node.name!r}; {hint}")
