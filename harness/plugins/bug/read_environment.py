"""Variables that vitest sets where tests run, as TypeScript asks for them. Pure.

Their names are common words: they count behind `env`, and anywhere where code hands on all of the environment.
"""

import re
from enum import Enum, auto

from harness.judging.verify.conduct.tokens import Token

_SET = re.compile(rb"TEST|MODE|SSR|BASE_URL|TINYPOOL_\w+")
_CLOSING = frozenset(b"] ) !".split())


class _At(Enum):
    """A place in code: the one before a token."""

    ELSEWHERE = auto()
    ENVIRONMENT = auto()
    DOT = auto()
    INDEX = auto()


class Environment:
    """The environment as added code reads it, token by token: `process.env.TEST`, `import.meta.env["MODE"]`.

    It is handed on by `const {TEST} = process.env`, and by `const all = process.env; all.TEST`.
    """

    def __init__(self) -> None:
        self._at, self._is_handed_on, self._seen = _At.ELSEWHERE, False, b""

    def take(self, token: Token) -> bytes:
        """Return the variable that is known to be asked for by now; empty for none."""
        is_word = token.is_name or token.is_literal
        if is_word and _SET.fullmatch(token.text):
            if self._at in (_At.DOT, _At.INDEX):
                return token.text
            self._seen = token.text
        self._is_handed_on |= self._hands_on(token, is_word)
        self._at = self._next(token, is_word)
        return self._seen if self._is_handed_on else b""

    def _hands_on(self, token: Token, is_word: bool) -> bool:
        """Return whether the environment is taken as a whole, or asked for what a name stands for."""
        if self._at is _At.INDEX:
            return token.is_name
        is_read = token.text in (b".", b"?.", b"[") or token.text in _CLOSING or (is_word and token.text == b"env")
        return self._at is _At.ENVIRONMENT and not is_read

    def _next(self, token: Token, is_word: bool) -> _At:
        if is_word and token.text == b"env":
            return _At.ENVIRONMENT
        if self._at is _At.ENVIRONMENT and token.text in _CLOSING:
            return self._at
        if self._at in (_At.ENVIRONMENT, _At.DOT) and token.text == b"[":
            return _At.INDEX
        if self._at is _At.ENVIRONMENT and token.text in (b".", b"?."):
            return _At.DOT
        return _At.INDEX if self._at is _At.INDEX and token.text != b"]" else _At.ELSEWHERE
