"""Turns a judge's reply into an answer with a quote from the patch, or into the reason why it is void."""

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.verify.judge.questions import Answer
from harness.verify.judge.shown_text import LINE_PREFIX, squeezed

MIN_QUOTE_CHARS = 8
_MAX_CHARS = 20_000


class Reply(BaseModel):
    """A judge's answer. `quote` is a short piece of the patch that shows it, `why` a sentence for people."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    answer: Answer
    quote: str = ""
    why: str = ""


class Unreadable(Exception):
    """The reply isn't one answer in the form that was asked for. The message holds nothing of the reply."""


Form = TypeVar("Form", bound=BaseModel)


def read_reply(text: str) -> Reply:
    """A judge's answer. Raises Unreadable."""
    return read_object(text, Reply)


def read_object(text: str, form: type[Form]) -> Form:
    """The one JSON object that a reply consists of, a Markdown fence around it allowed. Raises Unreadable."""
    if len(text) > _MAX_CHARS:
        raise Unreadable("it is far too long")
    try:
        return form.model_validate(json.loads(_unfenced(text), object_pairs_hook=_without_twice))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = str(first["loc"][0]) if first["loc"] and first["loc"][0] in form.model_fields else "the object"
        raise Unreadable(f"{where}: not as the form wants it") from None
    except (ValueError, RecursionError):
        raise Unreadable("it is not one JSON object and nothing else") from None


def backed(reply: Reply, patch: str, of_absence: bool = False) -> bool:
    """Whether the quote is in the patch. `met` needs one, but for a statement `of_absence`; `unmet` needs none.

    White space counts as one space, and the marks in front of a diff's lines may be left out: models drop
    both when they quote several lines.
    """
    quote = squeezed(_plain(reply.quote))
    if not quote:
        return of_absence or reply.answer is not Answer.MET
    if len(quote) < MIN_QUOTE_CHARS:
        return False
    return quote in squeezed(patch) or quote in squeezed(_unmarked(patch))


def quoted_test(reply: Reply, tests: Mapping[str, str]) -> str:
    """The first listed test whose text has the quote, or whose name stands in it; empty where none does."""
    quote = squeezed(_unmarked(_plain(reply.quote)))
    found = (name for name, text in tests.items() if quote in squeezed(text) or _short(name) in quote)
    return next(found, "") if len(quote) >= MIN_QUOTE_CHARS else ""


def _plain(quote: str) -> str:
    return "\n".join(line.removeprefix(LINE_PREFIX) for line in quote.split("\n"))


def _unmarked(patch: str) -> str:
    """Without the first character of each line, where that is a diff's."""
    return "\n".join(line[1:] if line[:1] in ("+", "-", " ") else line for line in patch.split("\n"))


def _short(test: str) -> str:
    return test.rpartition("::")[2].rpartition(".")[2]


def _unfenced(text: str) -> str:
    stripped = text.strip()
    if stripped.startswith("```") and stripped.endswith("```") and stripped.count("```") == 2:
        return stripped.partition("\n")[2].removesuffix("```")
    return stripped


def _without_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found
