"""Remembered suites of a matrix: what each test of a suite came to on each variant, kept by all that it depends on.

`task matrix --remember` writes and reads it. A check reads it to fail early: what a suite doesn't notice here no
judging can notice, so nothing is judged to say it again.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from harness.authoring.code_digest import code_digest
from harness.judging.languages.variant_source import VariantSource
from harness.judging.verify.arms import ArmContext, Suite
from harness.sandbox.host import cache_directory
from harness.specs.task import Task
from harness.specs.task_facts import SuiteMatrix


@dataclass(frozen=True)
class MatrixMemory:
    """The remembered matrices of one task, on one image, by this code."""

    directory: Path
    around: str

    def recall(self, suite: Suite, sources: Iterable[VariantSource]) -> SuiteMatrix | None:
        """Return what a suite came to on these variants; None where it never ran on the very same."""
        try:
            return SuiteMatrix.model_validate_json(self._path(suite, sources).read_bytes())
        except (OSError, ValidationError):
            return None

    def keep(self, suite: Suite, sources: Iterable[VariantSource], matrix: SuiteMatrix) -> None:
        """Remember what a suite came to on these variants."""
        path = self._path(suite, sources)
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        new.write_text(matrix.model_dump_json())
        new.replace(path)

    def _path(self, suite: Suite, sources: Iterable[VariantSource]) -> Path:
        key = hashlib.sha256(self.around.encode())
        parts = [
            *(str(test) for test in suite.tests),
            *(f"{path} {path in suite.executable} {_hash(text)}" for path, text in sorted(suite.files.items())),
            *sorted(suite.removed),
            *(f"{s.name} {path} {_hash(text)}" for s in sources for path, text in sorted(s.code.items())),
        ]
        for part in parts:
            key.update(part.encode("utf-8", "surrogateescape") + b"\0")
        return self.directory / f"{key.hexdigest()[:40]}.json"


def matrix_memory(context: ArmContext, task: Task) -> MatrixMemory:
    """Return what is remembered of a task."""
    limits = task.file.limits.model_dump_json()
    around = [task.repo.model_dump_json(), limits, context.image.digest, context.engine.isolation, code_digest()]
    return MatrixMemory(cache_directory() / "matrices" / task.id, json.dumps(around))


def _hash(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()
