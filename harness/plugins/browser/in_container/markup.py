"""A page with more markup than it had, to people the same: wrappers, classes, attributes, and a decoy at its end.

The decoy has a copy of the page's main part behind a closed shadow root, where neither the page's own scripts nor
locators by role or text find it. It is hidden, and has no script: one there would run once more.
"""

import random
import re
from html import escape
from html.parser import HTMLParser

WRAPPED = ("body", "main", "form", "table", "ul")
"""Elements that get one more element around them, or, where they are to stay outermost, within them."""
_WITHIN = ("body", "main")
_SCRIPTS = re.compile(r"<script\b.*?</script>", re.DOTALL)


def marked_up(page: str, seed: int) -> str:
    """The same seed gives every page the same names."""
    writer = _Writer(random.Random(seed))
    writer.feed(page)
    writer.close()
    return "".join(writer.parts)


class _Writer(HTMLParser):
    def __init__(self, chance: random.Random) -> None:
        super().__init__(convert_charrefs=False)
        self.parts: list[str] = []
        self._page, self._lines = "", [0]
        self._word = f"x{chance.randrange(1 << 20):05x}"
        self._main: tuple[int, int] = (0, 0)

    def feed(self, data: str) -> None:
        """Take a whole page."""
        self._page = data
        self._lines += [line.end() for line in re.finditer("\n", data)]
        super().feed(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in WRAPPED and tag not in _WITHIN:
            self.parts.append(f'<div class="{self._word}-{tag}">')
        self.parts.append(f"<{tag}{self._attributes(tag, attrs)}>")
        if tag in _WITHIN:
            self.parts.append(f'<div class="{self._word}-{tag}">')
        if tag == "main":
            self._main = (len(self.parts), 0)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An end tag of its own would be a second line break after `<br/>`, and end what `<p/>` begins."""
        self.parts.append(f"<{tag}{self._attributes(tag, attrs)}/>")

    def handle_endtag(self, tag: str) -> None:
        if tag == "main":
            self._main = (self._main[0], len(self.parts))
        if tag in _WITHIN:
            self.parts.append("</div>")
        if tag == "body":
            self.parts.append(self._decoy())
        self.parts.append(f"</{tag}>")
        if tag in WRAPPED and tag not in _WITHIN:
            self.parts.append("</div>")

    def handle_data(self, data: str) -> None:
        self.parts.append(data)

    def handle_entityref(self, name: str) -> None:
        """`AT&T` is as good as `AT&amp;T`: where there was no semicolon, there is none."""
        line, column = self.getpos()
        end = self._lines[line - 1] + column + len(f"&{name}")
        self.parts.append(f"&{name};" if self._page.startswith(";", end) else f"&{name}")

    def handle_charref(self, name: str) -> None:
        self.parts.append(f"&#{name};")

    def handle_comment(self, data: str) -> None:
        self.parts.append(f"<!--{data}-->")

    def handle_pi(self, data: str) -> None:
        self.parts.append(f"<?{data}>")

    def unknown_decl(self, data: str) -> None:
        self.parts.append(f"<![{data}]]>")

    def handle_decl(self, decl: str) -> None:
        self.parts.append(f"<!{decl}>")

    def _attributes(self, tag: str, attrs: list[tuple[str, str | None]]) -> str:
        known = dict(attrs)
        if tag not in ("html", "head", "meta", "title", "link", "script"):
            known["class"] = f"{known.get('class') or ''} {self._word}".strip()
            known[f"data-{self._word}"] = tag
        written = [name if value is None else f'{name}="{escape(value)}"' for name, value in known.items()]
        return "".join(f" {text}" for text in reversed(written))

    def _decoy(self) -> str:
        begin, end = self._main
        inner = _SCRIPTS.sub("", "".join(self.parts[begin:end]))
        return f'<div class="{self._word}-aside" hidden><template shadowrootmode="closed">{inner}</template></div>'
