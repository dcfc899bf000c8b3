"""Code that the documentation shows, for tests that run it."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)


def examples(page: str, section: str, language: str = "python") -> list[str]:
    """The fenced blocks of `language` below the heading `## section` of `docs/page`, in order.

    Raises ValueError where there is no such heading or no block below it.
    """
    text = (DOCS / page).read_text(encoding="utf-8")
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    if section not in sections:
        raise ValueError(f"docs/{page} has no section {section!r}")
    found = [block["code"] for block in _BLOCK.finditer(sections[section]) if block["language"] == language]
    if not found:
        raise ValueError(f"docs/{page}, section {section!r}: no {language} block")
    return found
