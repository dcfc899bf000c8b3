"""The glossary has the words that readers meet first: those of the README in bold, and the names of tracks."""

import re
from pathlib import Path

from harness.specs.tracks import TRACK_FACTS

CHECKOUT = Path(__file__).parents[2]


def defined() -> set[str]:
    """Return the words that have a row, several of one row apart."""
    rows = re.findall(
        r"^\| ([^|]+) \|", (CHECKOUT / "docs" / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    return {word.strip("*` ") for row in rows for word in row.split(",")}


def test_words_in_bold_have_a_row() -> None:
    bold = re.findall(r"\*\*(\w+?)s?\*\*", (CHECKOUT / "README.md").read_text(encoding="utf-8"))
    assert len(bold) > 4
    assert [word for word in bold if word not in defined()] == []


def test_every_track_has_a_row() -> None:
    assert [name for name in TRACK_FACTS.names if name not in defined()] == []


def test_the_readme_fits_on_a_page() -> None:
    assert len((CHECKOUT / "README.md").read_text(encoding="utf-8").split()) <= 900
