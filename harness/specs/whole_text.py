"""Text that no file can hold, made whole: JSON and the languages under test may have halves of surrogate pairs.

Names that an agent has chosen, as a record can hold them.
"""

import json
from collections import Counter
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator
from pydantic_core import PydanticSerializationError


def whole_text(value: str | None) -> str:
    """Return a text whose surrogate pairs are the characters that they stand for, and U+FFFD for each half of one."""
    text = value or ""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _made_whole(value: Any) -> Any:
    return whole_text(value) if isinstance(value, str) else value


WholeText = Annotated[str, BeforeValidator(_made_whole)]
"""A field's text that may quote a submission."""


def whole_json(value: BaseModel) -> str:
    """Return a value's JSON as a file can hold it: a model may think in halves of surrogate pairs."""
    try:
        return value.model_dump_json()
    except PydanticSerializationError:
        return whole_text(json.dumps(value.model_dump(mode="json"), ensure_ascii=False))


_MOST_NAMES = 100
_NAME_CHARS = 200


def named(text: str) -> str:
    """Return a name that an agent has chosen as a record can hold it: whole text, and not too much of it."""
    return whole_text(text[:_NAME_CHARS])


def count_name(names: Counter[str], text: str) -> None:
    """Count a name that an agent has chosen; those beyond the first hundred have one count together, `others`."""
    name = named(text)
    names[name if name in names or len(names) < _MOST_NAMES else "others"] += 1
