"""The cache of answers, by the hash of everything that they depend on."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any
from uuid import uuid4

from pydantic import ValidationError

from harness.verify.judge.replies import Reply


class AnswerCache:
    """A directory of replies. Without a directory it remembers nothing.

    An entry that was cut or spoilt is as good as none. What is in it is checked like any other reply.
    """

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory

    def get(self, key: str) -> Reply | None:
        if self._directory is None:
            return None
        try:
            return Reply.model_validate_json(self._place(self._directory, key).read_bytes())
        except (OSError, ValidationError):
            return None

    def put(self, key: str, reply: Reply) -> None:
        """Whole or not at all; two that answer the same at once may both write."""
        if self._directory is None:
            return
        place = self._place(self._directory, key)
        place.parent.mkdir(parents=True, exist_ok=True)
        partial = place.with_name(f".{key}.{uuid4().hex}")
        with partial.open("w") as file:
            file.write(reply.model_dump_json())
            file.flush()
            os.fsync(file.fileno())
        partial.replace(place)

    @staticmethod
    def _place(directory: Path, key: str) -> Path:
        return directory / key[:2] / f"{key}.json"


def cache_key(**parts: Any) -> str:
    """sha256 over everything that an answer depends on."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
