"""Looks at every planted file (tests/planted), and writes what was found into docs/names.md.

usage: python -m tests.support.names_page [LANGUAGE...]      from the checkout; of the other languages rows stay

docs/planted-names/ keeps what was found of each file. tests/unit/test_planted_names.py fails where it isn't of the
files that there are, or the page says something else.
"""

import asyncio
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from uuid import uuid4

from pydantic import BaseModel, ConfigDict

from harness.plugins.names.findings import Kind
from harness.runs.engine_session import engine_session
from harness.specs.yaml_files import FileModel, load_yaml
from tests.support.planted_names import LANGUAGES, PLANTED, PlantedFile, look_at_all, planted

DOCS = Path(__file__).parents[2] / "docs"
PAGE, KEPT = DOCS / "names.md", DOCS / "planted-names"
TITLE = "### Of each language\n"
_SHOWN = {"python": "Python", "go": "Go", "c": "C", "typescript": "TypeScript"}
_COLUMNS = {Kind.MODULE: "modules", Kind.MEMBER: "members", Kind.PARAMETER: "parameters", Kind.ON_MOCK: "on-mock"}


class MeasuredFile(BaseModel):
    """A planted file's name; an invention that is found, or an honest file with a finding, is `found`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    found: bool


class Measured(FileModel):
    """What was found in the planted files of a language, and the processor seconds of each look."""

    language: str
    files: tuple[MeasuredFile, ...]
    seconds: tuple[float, ...]

    def found(self) -> Iterator[tuple[PlantedFile, bool]]:
        """Yield the files that are there with what was found. Raises KeyError for one that wasn't looked at."""
        by_name = {file.name: file.found for file in self.files}
        for file in planted(self.language):
            yield file, by_name[file.path.name]

    @property
    def recall(self) -> float:
        hits = [found for file, found in self.found() if not file.is_honest]
        return sum(hits) / len(hits)


def kept() -> list[Measured]:
    """Return what was last measured of each language; nothing of one that never was."""
    files = [KEPT / f"{language}.json" for language in LANGUAGES]
    return [load_yaml(file, Measured) for file in files if file.exists()]


async def measure(language: str, chosen: list[PlantedFile] | None = None) -> Measured:
    """Look at all files of a language, or at some. Raises SandboxLost, and UserError without an engine."""
    async with engine_session("docker", uuid4().hex) as session:
        looked, seconds = await look_at_all(session, language, planted(language) if chosen is None else chosen)
    files = tuple(MeasuredFile(name=each.file.path.name, found=each.is_found) for each in looked)
    return Measured(
        language=language,
        files=tuple(sorted(files, key=lambda file: file.name)),
        seconds=tuple(round(each, 1) for each in seconds),
    )


def section(measured: Iterable[Measured]) -> str:
    """Return the page's last section."""
    every = list(measured)
    heads = ("language", "found", *_COLUMNS.values(), "honest files with a finding", "processor seconds")
    lines = [TITLE, f"| {' | '.join(heads)} |", "|---" * len(heads) + "|", *(_row(each) for each in every)]
    hits = [found for each in every for file, found in each.found() if not file.is_honest]
    lines += [
        "",
        f"In all {_of(hits)} ({100 * sum(hits) / len(hits):.0f}%). Not found, by how the file hides it:",
        "",
    ]
    return "\n".join([*lines, *(line for each in every for line in _missed(each))]) + "\n"


def _row(measured: Measured) -> str:
    found = list(measured.found())
    inventions = [(file.kind, is_found) for file, is_found in found if not file.is_honest]
    kinds = {kind: [hit for name, hit in inventions if _kind(name) is kind] for kind in _COLUMNS}
    cells = (
        _SHOWN[measured.language],
        _of([hit for _, hit in inventions]),
        *(_of(hits) if hits else "" for hits in kinds.values()),
        _of([is_found for file, is_found in found if file.is_honest]),
        f"{sum(measured.seconds):.0f}",
    )
    return f"| {' | '.join(cells)} |"


def _kind(name: str) -> Kind:
    """Return the kind of a finding by a planted file's: a method that overrides nothing is a member."""
    return Kind.MEMBER if name == "override" else Kind(name)


def _of(hits: list[bool]) -> str:
    return f"{sum(hits)} of {len(hits)}"


def _missed(measured: Measured) -> Iterator[str]:
    for file, is_found in measured.found():
        if not is_found and not file.is_honest:
            yield f"- `{PLANTED.name}/{measured.language}/{file.path.name}`: {file.how}"


def main() -> int:
    chosen = sys.argv[1:] or list(LANGUAGES)
    if unknown := [word for word in chosen if word not in LANGUAGES]:
        print(__doc__ if unknown[0] in ("-h", "--help") else f"names_page.py: {unknown[0]} is unknown; see --help")
        return 0 if unknown[0] in ("-h", "--help") else 2
    for language in chosen:
        measured = asyncio.run(measure(language))
        print(_row(measured), flush=True)
        KEPT.joinpath(f"{language}.json").write_text(measured.model_dump_json(indent=1) + "\n")
    head, _, _ = PAGE.read_text().partition(TITLE)
    PAGE.write_text(head + section(kept()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
