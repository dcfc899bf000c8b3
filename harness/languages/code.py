"""Which text of a language is code, and different texts that are the same code."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.languages.on_disk.written import Writer

_LINE_ENDS = str.maketrans(dict.fromkeys("\r\v\f\x85\u2028\u2029", " "))


@dataclass(frozen=True)
class Code:
    """The code of a language as text, before anything is compiled."""

    is_code: Callable[[str], bool]
    """Whether the file at this path is code: text and what runs of it can differ. Data files have no such split."""
    comment: str
    """What begins a comment that ends with its line."""
    write: Writer
    """For text that is itself what runs."""

    def commented(self, text: bytes, lines: Sequence[str]) -> bytes:
        """The same code, with `lines` as comments behind it."""
        one_line = [line.translate(_LINE_ENDS) for line in lines]
        # The empty comment takes what a backslash at the end of the last one would continue.
        comments = "".join(f"{self.comment} {line}\n" for line in [*one_line, ""])
        return text.rstrip(b"\n") + b"\n" + comments.encode("utf-8", "surrogateescape")
