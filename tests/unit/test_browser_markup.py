"""Pages with more markup than they had: what people and roles see of them stays."""

import sys
from collections.abc import Callable
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path

import pytest

from harness.plugins.browser.literals import mended_texts

PLACE = Path(__file__).parents[2] / "harness" / "plugins" / "browser" / "in_container"
PAGE = """<!doctype html>
<html lang="en"><head><title>A &amp; B</title><script>if (1 < 2) { go("<p>"); }</script></head>
<body>
<main><h1 class="big">&lt;Notes&gt; &#8211; all</h1><!-- ours -->
<form action="/a?b=1&amp;c=2"><input id="x" disabled> <button>Save</button></form></main>
</body></html>
"""


@pytest.fixture
def marked_up(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int], str]:
    monkeypatch.syspath_prepend(str(PLACE))
    monkeypatch.delitem(sys.modules, "markup", raising=False)
    return import_module("markup").marked_up  # type: ignore[no-any-return]


class Read(HTMLParser):
    """What a page has, but for what is in templates: `div` elements left out."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[object] = []
        self._templates = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._templates += tag == "template"
        if not self._templates and tag != "div":
            known = {name: value for name, value in attrs if name != "class" and not name.startswith("data-")}
            self.seen.append((tag, known))

    def handle_endtag(self, tag: str) -> None:
        self._templates -= tag == "template"

    def handle_data(self, data: str) -> None:
        if not self._templates and data.strip():
            self.seen.append(data)


def test_a_page_keeps_its_elements_its_attributes_and_its_text(marked_up: Callable[[str, int], str]) -> None:
    marked = marked_up(PAGE, 1)
    assert Read(marked).seen == Read(PAGE).seen
    assert 'if (1 < 2) { go("<p>"); }' in marked
    assert "<!-- ours -->" in marked


def test_a_page_gets_wrappers_classes_and_a_decoy_by_its_seed(marked_up: Callable[[str, int], str]) -> None:
    marked = marked_up(PAGE, 1)
    assert marked == marked_up(PAGE, 1) != marked_up(PAGE, 2)
    assert '<template shadowrootmode="closed"><h1' in marked
    assert marked.count("<button") == 2
    assert 'class="big x' in marked
    assert "<main><form" not in marked.replace("\n", "")


def test_nothing_runs_twice_and_no_element_is_there_twice(marked_up: Callable[[str, int], str]) -> None:
    page = "<body><main>One<br/>two<svg><path d='M0 0'/></svg><script>\ncount()\n</script><p>three</p></main></body>"
    light, _, decoy = marked_up(page, 1).partition('<template shadowrootmode="closed">')
    assert Read(light).seen == Read(page).seen
    assert light.count("<br") == light.count("count()") == 1
    assert "</br>" not in light
    assert "script" not in decoy
    assert "three</p>" in decoy
    assert light.endswith('-aside" hidden>')


@pytest.mark.parametrize(
    "text",
    [
        "AT&T, R&D &amp; x",
        "one\r\n&two &unknown; &copy &copy; &lt",
        "&#38 &#x26;",
        "<?xml-stylesheet href='x'?>",
        "<svg><![CDATA[a & b]]></svg>",
    ],
)
def test_what_is_no_element_stays_as_it_was_written(marked_up: Callable[[str, int], str], text: str) -> None:
    assert Read(marked_up(f"<p>\n{text}</p>", 1)).seen == Read(f"<p>\n{text}</p>").seen
    assert text.count("&") == marked_up(text, 1).count("&")


SUITE = b'''"""Log in and out."""
# "Log in"
HEADING = "Log in here"
BUTTON = "Log in"


def test_a(page):
    """Log in."""
    page.get_by_text(f"{1} log in").click(
        "Log in"
    )
'''


def test_each_literal_with_the_label_is_changed_by_itself_the_likeliest_first() -> None:
    found = [item.text for item in mended_texts({"tests/test_a.py": SUITE}, "Log in", "Enter")]
    assert found == [
        SUITE.replace(b'BUTTON = "Log in"', b'BUTTON = "Enter"'),
        SUITE.replace(b'        "Log in"', b'        "Enter"'),
        SUITE.replace(b"Log in here", b"Enter here"),
        SUITE.replace(b"{1} log in", b"{1} Enter"),
    ]


def test_a_literal_that_is_the_label_in_other_letters_comes_before_what_only_has_it() -> None:
    messages = b"".join(b'assert a%d, "log in %d failed"\n' % (n, n) for n in range(6))
    suite = messages + b'BUTTON = re.compile("log in", re.I)\n'
    first = next(mended_texts({"tests/test_a.py": suite}, "Log in", "Enter"))
    assert first.text == suite.replace(b'"log in"', b'"Enter"')


@pytest.mark.parametrize(
    ("path", "text", "mended"),
    [
        ("labels.json", b'{"in": "Log in", "to": "Log in, please"}', b'{"in": "Enter", "to": "Log in, please"}'),
        ("labels.yaml", "in: Log in\nzurück: Back".encode(), "in: Enter\nzurück: Back".encode()),
        ("page.spec.ts", b'byRole("button", { name: "Log in" })', b'byRole("button", { name: "Enter" })'),
        ("old.py", b"# coding: latin-1\nA = 'Log in \xe9'", b"# coding: latin-1\nA = 'Enter \xe9'"),
    ],
)
def test_a_literal_may_stand_in_other_files_and_encodings(path: str, text: bytes, mended: bytes) -> None:
    assert next(mended_texts({f"tests/{path}": text, "tests/x.png": b"\x89Log in"}, "Log in", "Enter")) == (
        f"tests/{path}",
        mended,
    )


def test_many_places_of_a_large_file_are_written_one_by_one() -> None:
    found = mended_texts({"tests/words.txt": b"Log in, " * 100_000}, "Log in", "Enter")
    assert next(found).text.startswith(b"Enter, Log in, ")


def test_a_literal_is_found_behind_characters_that_only_look_like_ends_of_lines() -> None:
    text = "SEPARATOR = '\u2028'\n\f\nBUTTON = 'Log in'\r\n".encode()
    assert [item.text for item in mended_texts({"tests/test_a.py": text}, "Log in", "Enter")] == [
        text.replace(b"Log in", b"Enter")
    ]


@pytest.mark.parametrize("text", [b"x = 'Log in", b"\xff'Log in'", b"if:\n  'Log in'\n 3"])
def test_a_file_that_is_no_python_has_no_literals(text: bytes) -> None:
    assert list(mended_texts({"tests/test_a.py": text}, "Log in", "Enter")) == []
