"""Templates, and writing pages: every value is escaped, every page forbids what it doesn't need."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from harness.report.figures import percent, points, span
from harness.report.tables import money
from harness.site.places import link, root_of
from harness.site.visible import shown, visible
from harness.specs.errors import UserError

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'"
)
_LIVE = "; connect-src 'self'"
STATIC = ("site.css", "site.js")


@dataclass
class Pages:
    """The site's folder. `is_live`: the pages are served, and ask now and then whether there is something new."""

    directory: Path
    title: str
    is_live: bool = False

    @cached_property
    def _environment(self) -> Environment:
        made = Environment(
            loader=PackageLoader("harness.site", "templates"),
            autoescape=True,
            finalize=shown,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        made.filters.update(link=link, percent=percent, points=points, span=span, money=money)
        made.globals.update(site_title=self.title, policy=self._policy, live=self.is_live)
        return made

    @property
    def _policy(self) -> str:
        return _POLICY + (_LIVE if self.is_live else "")

    def load_templates(self) -> None:
        for name in self._environment.list_templates():
            self._environment.get_template(name)

    def rendered(self, template: str, values: Mapping[str, Any]) -> str:
        return self._environment.get_template(template).render(values)

    def write(self, page: str, template: str, **values: Any) -> None:
        """Render a page and write it."""
        self._write(page, self.rendered(template, {"root": root_of(page), "page": page, **values}))

    def write_text(self, name: str, text: str) -> str:
        """Write a text file beside the pages, its characters made visible; the path."""
        self._write(name, visible(text))
        return name

    def write_static(self) -> None:
        """Style and script."""
        for name in STATIC:
            self._write(name, files("harness.site").joinpath("static", name).read_text(encoding="utf-8"))

    def _write(self, name: str, text: str) -> None:
        path = self.directory / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", errors="replace")
        except OSError as error:
            raise UserError(f"{path}: can't be written: {error.strerror or error}") from None
