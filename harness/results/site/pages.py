"""Templates, and writing pages: every value is escaped, every page forbids what it doesn't need.

Text of agents and containers, made visible: what a page shows can neither act nor hide.

Jinja2 escapes markup. What is left are characters that move the cursor, turn the direction of text round or can't be
seen at all: each is shown by its code.

Long texts: the beginning on the page, the whole in a file beside it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from harness.results.report.figures import percent, points, span
from harness.results.report.tables import money
from harness.results.site.material import TRIALS, file_of, link, root_of
from harness.specs.errors import UserError

_PERHAPS = re.compile(r"[^\t\n\x20-\x7e]")
"""Characters that aren't plainly printable: Unicode's tables say whether they are."""


def visible(text: str) -> str:
    r"""Return `text` with every character that isn't printable as its escape: `\x1b`, `\u202e`, `\U000e0041`."""
    return text if text.isascii() and text.isprintable() else _PERHAPS.sub(_as_shown, text)


def shown(value: Any) -> Any:
    """Return a value as Jinja2 is to escape it: nothing for None, and markup of ours as it is."""
    if value is None:
        return ""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _as_shown(found: re.Match[str]) -> str:
    char = found[0]
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def behind(root: str, **wanted: object) -> str:
    """Return the address of the list of trials that are wanted: a track, system, task, verdict, reason and so on."""
    asked = {name: str(value) for name, value in wanted.items() if value}
    return f"{root}{TRIALS}#{urlencode(asked)}"


_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'"
_POLICY += "; img-src 'self' data:"
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
            loader=PackageLoader("harness.results.site", "templates"),
            autoescape=True,
            finalize=shown,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        made.filters.update(link=link, percent=percent, points=points, span=span, money=money)
        made.globals.update(site_title=self.title, policy=self._policy, live=self.is_live, behind=behind)
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

    def write_picture(self, name: str, data: bytes) -> str:
        """Write a picture beside the pages; the path."""
        self._write_bytes(name, data)
        return name

    def write_script(self, name: str, text: str) -> None:
        """Write a script of data; its text is ASCII."""
        self._write(name, text)

    def write_static(self) -> None:
        """Write style and script."""
        for name in STATIC:
            self._write(name, files("harness.results.site").joinpath("static", name).read_text(encoding="utf-8"))

    def _write(self, name: str, text: str) -> None:
        self._write_bytes(name, text.encode("utf-8", errors="replace"))

    def _write_bytes(self, name: str, data: bytes) -> None:
        path = self.directory / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not (self.is_live and path.is_file() and path.read_bytes() == data):  # a page that is open stays
                path.write_bytes(data)
        except OSError as error:
            raise UserError(f"{path}: can't be written: {error.strerror or error}") from None


MAX_TEXT = 12_000
"""Characters of one message, quote or output on a page."""
MAX_FILE = 20_000_000
"""Characters of a text in a file of the site."""


@dataclass(frozen=True)
class Text:
    """A text as a page shows it. Where `more` characters are left out, `file` is a link to the whole."""

    shown: str
    more: int = 0
    file: str = ""


@dataclass(frozen=True)
class LongTexts:
    """The texts of one page."""

    pages: Pages
    page: str

    def cut(self, text: str, name: str, limit: int = MAX_TEXT) -> Text:
        """Cut a long text, and write the whole to a file of this name if one is needed."""
        if len(text) <= limit:
            return Text(text)
        rest = f"\n... {len(text) - MAX_FILE} more characters\n" if len(text) > MAX_FILE else ""
        written = self.pages.write_text(file_of(self.page, name), text[:MAX_FILE] + rest)
        return Text(text[:limit], len(text) - limit, link(written))
