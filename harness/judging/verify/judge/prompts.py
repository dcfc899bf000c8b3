"""The judge's words: templates in `rubrics/prompts/`, and the messages that are made of them.

Text of a submission as the judge gets it: without invisible characters or lines that look like ours.
"""

import hashlib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateNotFound, UndefinedError
from jinja2.exceptions import TemplateSyntaxError

from harness.judging.verify.judge.questions import Brief
from harness.models.protocol import Message, MessageRole
from harness.specs.catalog import Catalog
from harness.specs.catalog_places import default_directory
from harness.specs.errors import UserError

LINE_PREFIX = "| "
_KEPT = "\n\t"
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols by category that show as nothing."""
_VARIATION_SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0), range(0x180B, 0x1810))
"""They change how the character before them looks, and any bytes can be written with them."""


class ShownText(NamedTuple):
    """A text as a judge sees it, without control, invisible and bidirectional characters; `removed` counts these."""

    text: str
    removed: int


def shown(data: bytes | str) -> ShownText:
    """Return what a judge may see. The ends of lines of Windows become plain ones, and don't count as removed."""
    text = data.decode(errors="replace") if isinstance(data, bytes) else data
    text = text.replace("\r\n", "\n")
    kept = "".join(char for char in text if _is_visible(char))
    return ShownText(kept, len(text) - len(kept))


def as_data(text: str) -> str:
    """Return each line behind a prefix, so that no line can be taken for a fence or a message."""
    return "\n".join(f"{LINE_PREFIX}{line}" for line in text.rstrip("\n").split("\n"))


def squeezed(text: str) -> str:
    """Return a text with one space for each run of white space: models break and indent anew what they quote."""
    return " ".join(text.split())


@lru_cache(4096)
def _is_visible(char: str) -> bool:
    if char in _KEPT:
        return True
    if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") or char in _BLANK:
        return False
    return not any(ord(char) in selectors for selectors in _VARIATION_SELECTORS)


NAMES = ("system", "data", "ready", "question", "repair")


@dataclass(frozen=True)
class Shown:
    """A brief as the judge sees it. `removed` counts characters that were taken out of it."""

    request: str
    tests: str
    patch: str
    removed: int

    @classmethod
    def of(cls, brief: Brief) -> "Shown":
        tests, patch = shown("\n".join(brief.tests)), shown(brief.patch)
        return cls(brief.prompt, tests.text, patch.text, tests.removed + patch.removed)


class Prompts:
    """The templates in `directory`. Raises UserError for one that is absent or can't be rendered."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        # Texts for a model, not HTML. What an agent wrote is a value, never a template.
        self._environment = Environment(
            loader=FileSystemLoader(directory), undefined=StrictUndefined, trim_blocks=True, autoescape=False
        )
        sample = self.opening(Shown("request", "tests", "patch", 1), "0")
        self.asking(sample, "statement", "0", fault="fault")

    @classmethod
    def of(cls, catalog: Catalog) -> "Prompts":
        """Return a catalog's own, else the built-in ones."""
        places = [*(place.directory for place in catalog.places), default_directory()]
        folders = [place / "rubrics" / "prompts" for place in places]
        return cls(next((folder for folder in folders if folder.is_dir()), folders[-1]))

    @cached_property
    def digest(self) -> str:
        """sha256 over all templates."""
        whole = hashlib.sha256()
        for name in NAMES:
            whole.update(f"{name}\0{(self._directory / f'{name}.j2').read_text(encoding='utf-8')}\0".encode())
        return whole.hexdigest()

    def opening(self, brief: Shown, nonce: str) -> list[Message]:
        """Return what all questions of a judging share; the provider is asked to keep it."""
        data = self._render(
            "data",
            nonce=nonce,
            removed=brief.removed,
            request=as_data(brief.request),
            tests=as_data(brief.tests),
            patch=as_data(brief.patch),
        )
        return [
            Message(role=MessageRole.SYSTEM, content=self._render("system")),
            Message(role=MessageRole.USER, content=data, cache=True),
            Message(role=MessageRole.ASSISTANT, content=self._render("ready")),
        ]

    def asking(self, opening: Sequence[Message], statement: str, nonce: str, fault: str = "") -> list[Message]:
        """Return the whole conversation for one question.

        Args:
            opening: What all questions about this submission share.
            statement: The question.
            nonce: Marks the patch's bounds, which the patch can't know.
            fault: Why the last reply couldn't be read. That reply is left out: nothing that a patch has made a
                judge say
                is said to it again.
        """
        question = self._render("question", statement=statement, nonce=nonce)
        if fault:
            question += "\n\n" + self._render("repair", fault=fault)
        return [*opening, Message(role=MessageRole.USER, content=question)]

    def criterion(self, statement: str, static: str, probes: Sequence[str]) -> str:
        """Return the question whether a statement says the same as its check: `static` in words, or patches."""
        return self._render("criterion", statement=statement, static=static, probes=probes)

    def request(self, request: str, must_haves: Sequence[tuple[str, str]]) -> str:
        """Return the question which must-haves, by id and statement, a task's prompt doesn't ask for."""
        return self._render("request", request=request, must_haves=must_haves)

    def _render(self, name: str, **values: object) -> str:
        path = self._directory / f"{name}.j2"
        try:
            return self._environment.get_template(path.name).render(**values).strip()
        except TemplateNotFound:
            raise UserError(f"{path}: this template of the judge is missing") from None
        except TemplateSyntaxError as error:
            raise UserError(f"{path}:{error.lineno}: {error.message}") from None
        except UndefinedError as error:
            raise UserError(f"{path}: {error}; it is given {', '.join(sorted(values)) or 'nothing'}") from None
