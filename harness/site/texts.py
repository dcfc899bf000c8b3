"""Long texts: the beginning on the page, the whole in a file beside it."""

from dataclasses import dataclass

from harness.site.pages import Pages
from harness.site.places import file_of, link

MAX_TEXT = 12_000
"""Characters of one message, quote or output on a page."""
MAX_FILE = 20_000_000
"""Characters of a text in a file of the site."""


@dataclass(frozen=True)
class Text:
    """`shown` is on the page. Where `more` characters aren't, `file` is a link to the whole."""

    shown: str
    more: int = 0
    file: str = ""


@dataclass(frozen=True)
class Texts:
    """The texts of one page."""

    pages: Pages
    page: str

    def cut(self, text: str, name: str, limit: int = MAX_TEXT) -> Text:
        """`name` is the file's, should one be needed."""
        if len(text) <= limit:
            return Text(text)
        rest = f"\n... {len(text) - MAX_FILE} more characters\n" if len(text) > MAX_FILE else ""
        written = self.pages.write_text(file_of(self.page, name), text[:MAX_FILE] + rest)
        return Text(text[:limit], len(text) - limit, link(written))
