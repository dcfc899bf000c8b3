"""The Dockerfile and the run script of a repository that has none of its own: its language's, with its values.

A file of a frame has places, `@NAME@`. Some are filled from other keys of `repo.yaml`: `@SOURCE@` is the stage that
fetches the release, from the file in `sources/` for its kind; `@TREE@` is the stage that has its tree; `@WORKDIR@`
and `@MODULE@` are the work directory, and what Go calls it.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from harness.specs.errors import UserError
from harness.specs.repo import LANGUAGE_FACTS, Frame, Repo
from harness.specs.yaml_files import line_of_key

DOCKERFILE = "Dockerfile"
RUN_SCRIPT = "run_tests.sh"
_PLACE = re.compile(r"@([A-Z_]+)@")
_SOURCES = Path(__file__).parent / "sources"
_KEPT_ALIKE = {"git": "archive"}
"""Kind of a source -> the file for it, where another kind's release lies beside repo.yaml in the same form."""


def shared_files(repo: Repo) -> dict[str, bytes]:
    """Return the Dockerfile, and the run script with its modules: the repo's own, else its language's, filled.

    A module of the repo's own replaces the frame's of that name when the recipe is read.

    Raises:
        UserError: There is neither, or `repo.yaml` leaves out what the frame needs, or names a place that it hasn't.
    """
    frame = LANGUAGE_FACTS.get(repo.language).frame
    own = [name for name in (DOCKERFILE, RUN_SCRIPT) if (repo.directory / name).is_file()]
    texts = {} if frame is None else _of_frame(frame, repo, own)
    for name in (DOCKERFILE, RUN_SCRIPT):
        if name not in own and not any(path.name == name for path in texts):
            raise UserError(f"{repo.directory / name}: an image needs it, and it isn't there")
    if repo.frame and not texts:
        words = f"{' and '.join(own)} are there, and nothing fills the places of 'frame'; remove one of them"
        raise UserError(f"{_line_of_frame(repo)}: {words}")
    values = {} if frame is None else _values(frame, repo, texts)
    filled = {path.name: _filled(text, values).encode() for path, text in texts.items()}
    return filled | {name: (repo.directory / name).read_bytes() for name in own}


def _of_frame(frame: Frame, repo: Repo, own: list[str]) -> dict[Path, str]:
    """Return the texts that the repository takes: all but its own Dockerfile, and none beside its own run script."""
    texts = {}
    for path in sorted(frame.directory.iterdir()):
        if path.is_file() and (DOCKERFILE if path.name == DOCKERFILE else RUN_SCRIPT) not in own:
            texts[path] = path.read_text(encoding="utf-8")
            if path.name == DOCKERFILE:
                texts[path] = texts[path].replace("@SOURCE@", _source(repo))
    return texts


def _source(repo: Repo) -> str:
    part = _SOURCES / _KEPT_ALIKE.get(repo.source.kind, repo.source.kind)
    if not part.is_file():
        words = f"a Dockerfile of its own is needed: none that is shared takes a source of kind {repo.source.kind!r}"
        raise UserError(f"{repo.directory / DOCKERFILE}: {words}")
    return part.read_text(encoding="utf-8")


def _values(frame: Frame, repo: Repo, texts: Mapping[Path, str]) -> dict[str, str]:
    """Return what is put into each place; UserError for one that isn't filled, and for one that isn't there."""
    of_others = {
        "tree": "npm" if repo.source.kind == "npm" else "source",
        "workdir": repo.workdir,
        "module": repo.workdir.removeprefix("/go/src/"),
    }
    places = {name.lower(): path for path, text in texts.items() for name in _PLACE.findall(text)}
    known = sorted(places.keys() - of_others.keys())
    if strange := sorted(set(known) - frame.places.keys()):
        words = f"has @{strange[0].upper()}@, and the language's frame has no such place"
        raise UserError(f"{places[strange[0]]}: {words}")
    for name in repo.frame:
        if name not in known:
            files = ", ".join(sorted({path.name for path in texts}))
            words = f"unknown place {name!r}; in {files} there are: {', '.join(known)}"
            raise UserError(f"{_line_of_frame(repo)}: frame: {words}")
    for name in known:
        if frame.places[name] is None and name not in repo.frame:
            words = f"key 'frame.{name}' is missing; {places[name].name} needs it"
            raise UserError(f"{_line_of_frame(repo)}: {words}")
    return {**{name: text or "" for name, text in frame.places.items()}, **of_others, **repo.frame}


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Put values into a text, in one go: what looks like a place in a value stays as it is.

    A line that is a place alone goes where its value is empty.
    """
    lines = (line for line in text.splitlines(keepends=True) if not _is_left_out(line, values))
    return _PLACE.sub(lambda found: values[found[1].lower()], "".join(lines))


def _is_left_out(line: str, values: Mapping[str, str]) -> bool:
    alone = _PLACE.fullmatch(line.rstrip("\n"))
    return alone is not None and not values[alone[1].lower()]


def _line_of_frame(repo: Repo) -> str:
    path = repo.directory / "repo.yaml"
    return f"{path}:{line_of_key(path, 'frame')}"
