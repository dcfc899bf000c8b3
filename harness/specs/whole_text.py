"""Text that no file can hold, made whole: JSON and the languages under test may have halves of surrogate pairs."""

from typing import Annotated, Any

from pydantic import BeforeValidator


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
