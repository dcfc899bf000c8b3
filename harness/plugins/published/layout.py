"""The files of a task in the published SWE-Atlas Test Writing layout, as they lie on disk.

The map from published images to images of this machine.
"""

import ast
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.specs.errors import UserError
from harness.specs.rubric import Criterion, GradedBy, Importance
from harness.specs.schema_faults import plain_words
from harness.specs.yaml_files import parse_yaml, read_text

DESCRIPTION = "task.toml"
INSTRUCTION = "instruction.md"
DOCKERFILE = "environment/Dockerfile"
REFERENCE = "solution/addition.patch"
SOLUTION = "solution/solve.sh"
OBJECTIVE = "tests/prompt.txt"
RUBRIC = "tests/rubrics.json"
REMOVAL = "tests/skeleton_code_swap.patch"
RUN_SCRIPT = "tests/run_script.sh"
PARSER = "tests/parse_script.py"
NEEDED = (INSTRUCTION, DOCKERFILE, REFERENCE, SOLUTION, OBJECTIVE, RUBRIC, REMOVAL, RUN_SCRIPT, PARSER)
VERIFIER = ("tests/evaluate_tests.py", "tests/compare_test_runs.py")
"""The published verifier's rule for names, which is read and never run."""
KNOWN_VERSION = "1.1"

_TITLE = re.compile(r"\s*(?P<id>(?P<axis>\d+)\.\d+)\s*[:.]?\s+(?P<statement>.+)", re.DOTALL)
_FROM = re.compile(r"^\s*FROM\s+(?:--\S+\s+)*(?P<image>\S+)", re.IGNORECASE | re.MULTILINE)
_HEADING = "high level intent"


class _Table(BaseModel):
    """A table of the file. Keys that we don't know are kept, so that they can be told."""

    model_config = ConfigDict(frozen=True, extra="allow")


class TaskTable(_Table):
    """The table `task` of a task.toml."""

    name: str = Field(min_length=1)


class MetadataTable(_Table):
    """The table `metadata` of a task.toml."""

    repository: str = Field(min_length=1)
    base_commit: str = Field(pattern=r"^[0-9a-f]{7,64}$")


class VerifierTable(_Table):
    """The table `verifier` of a task.toml."""

    timeout_sec: float = Field(default=900, gt=0)
    env: dict[str, str] = Field(default_factory=dict)


class AgentTable(_Table):
    """The table `agent` of a task.toml."""

    timeout_sec: float = Field(default=10800, gt=0)
    network_mode: str = "allowlist"
    allowed_hosts: tuple[str, ...] = ()


class EnvironmentTable(_Table):
    """MiB, cores, MiB."""

    build_timeout_sec: float = 600
    cpus: float = Field(default=16, gt=0)
    memory_mb: int = Field(default=16384, ge=64)
    storage_mb: int = Field(default=10240, ge=16)
    gpus: int = 0
    allow_internet: bool = False


class Description(_Table):
    """`task.toml`."""

    schema_version: str = KNOWN_VERSION
    task: TaskTable
    metadata: MetadataTable
    verifier: VerifierTable = VerifierTable()
    agent: AgentTable = AgentTable()
    environment: EnvironmentTable = EnvironmentTable()


class _Annotations(_Table):
    type: str
    importance: str


class _Item(_Table):
    annotations: _Annotations
    id: str | int
    title: str


def read_description(path: Path) -> tuple[Description, list[str]]:
    """Return `task.toml`, and what to remark about it.

    Raises:
        UserError: It is wrong; the message names the line.
    """
    text = read_text(path)
    try:
        found = Description.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: not TOML: {error}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        words = "is missing" if first["type"] == "missing" else plain_words(first["msg"])
        raise UserError(f"{path}:{_line(text, str(first['loc'][-1]))}: key {key!r}: {words}") from None
    remarks = []
    if unused := _without_effect(found):
        remarks.append(f"{DESCRIPTION}: without effect here: {'; '.join(unused)}")
    if found.schema_version != KNOWN_VERSION:
        remarks.append(f"{DESCRIPTION}: schema_version {found.schema_version}; read as {KNOWN_VERSION}")
    return found, remarks


def _without_effect(found: Description) -> list[str]:
    """Return what a task asks for and doesn't get. The verifier's environment holds the keys of its judge."""
    words = []
    if unknown := list(_unknown(found)):
        words.append(f"unknown keys {', '.join(unknown)}")
    if found.environment.allow_internet or found.agent.allowed_hosts:
        words.append("a network, which neither agents nor tests have")
    if found.verifier.env:
        words.append(f"verifier.env ({', '.join(sorted(found.verifier.env))}), handed to no container")
    return words


def read_rubric(path: Path) -> tuple[list[Criterion], list[str]]:
    """Return the criteria of `rubrics.json`, headings left out, and what to remark.

    Raises:
        UserError: An item is wrong; the message names it.
    """
    try:
        items = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise UserError(f"{path}:{error.lineno}: not JSON: {error.msg}") from None
    if not isinstance(items, list):
        raise UserError(f"{path}:1: expected a list of items with 'annotations', 'id' and 'title'")
    criteria: list[Criterion] = []
    remarks: list[str] = []
    unknown: dict[str, None] = {}
    for number, data in enumerate(items, start=1):
        item = _item(path, number, data)
        unknown |= dict.fromkeys(_unknown(item))
        if item.annotations.type.strip().lower() == _HEADING:
            continue
        criterion = _criterion(path, number, item)
        if criterion.id in (known := {other.id for other in criteria}):
            free = _free_id(criterion, known, {_title_id(other) for other in items})
            words = f"criterion {criterion.id} is there twice; this one is read as {free}"
            remarks.append(f"{RUBRIC}: item {number}: {words}")
            criterion = criterion.model_copy(update={"id": free})
        criteria.append(criterion)
    if unknown:
        remarks.append(f"{RUBRIC}: without effect here: unknown keys {', '.join(unknown)}")
    return criteria, remarks


def _title_id(data: Any) -> str:
    title = _TITLE.fullmatch(str(data.get("title", ""))) if isinstance(data, dict) else None
    return title["id"] if title else ""


def _free_id(criterion: Criterion, *taken: set[str]) -> str:
    """Return the first number of its axis that no criterion has."""
    numbers = (f"{criterion.axis}.{number}" for number in range(1, 100))
    return next((name for name in numbers if not any(name in names for names in taken)), criterion.id)


def replaces_spaces(directory: Path) -> bool:
    """Tell whether a task's own verifier writes names with underscores for spaces: by a call with these two texts."""
    return any(_replaces_spaces(directory / name) for name in VERIFIER if (directory / name).is_file())


def _replaces_spaces(path: Path) -> bool:
    try:
        calls = [node for node in ast.walk(ast.parse(read_text(path))) if isinstance(node, ast.Call)]
    except (SyntaxError, ValueError, RecursionError):
        return False
    texts = ([item.value for item in call.args if isinstance(item, ast.Constant)] for call in calls)
    named = zip((getattr(call.func, "attr", "") for call in calls), texts, strict=True)
    return any(name in ("replace", "sub") and found[:2] in _SPACES_REPLACED for name, found in named)


_SPACES_REPLACED = [list(pair) for space in (" ", r"\s", r"\s+", " +") for pair in ((space, "_"), ("_", space))]


def base_image(path: Path) -> str:
    """Return the image that a Dockerfile of one stage starts from.

    Raises:
        UserError: It names none.
    """
    found = _FROM.findall(read_text(path))
    if len(found) != 1:
        raise UserError(f"{path}: expected one FROM line, found {len(found)}")
    return str(found[0])


def with_base_image(dockerfile: str, image: str) -> str:
    """Return the same Dockerfile on another image."""
    return _FROM.sub(lambda _: f"FROM {image}", dockerfile, count=1)


def _item(path: Path, number: int, data: Any) -> _Item:
    try:
        return _Item.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        raise UserError(f"{path}: item {number}: {key or 'the item'}: {plain_words(first['msg'])}") from None


def _criterion(path: Path, number: int, item: _Item) -> Criterion:
    title = _TITLE.fullmatch(item.title)
    kind, importance = item.annotations.type.strip().lower(), item.annotations.importance.strip().lower()
    if title is None:
        raise UserError(f"{path}: item {number}: its title doesn't begin with axis and number, such as '1.4: '")
    if importance not in _IMPORTANCE:
        raise UserError(f"{path}: item {number}: importance {importance!r}; expected {' or '.join(_IMPORTANCE)}")
    if not kind.startswith(("positive", "negative")):
        raise UserError(f"{path}: item {number}: type {kind!r}; expected positive ..., negative ... or {_HEADING}")
    try:
        return Criterion(
            id=title["id"],
            axis=int(title["axis"]),
            importance=_IMPORTANCE[importance],
            statement=title["statement"].strip(),
            graded_by=(GradedBy.JUDGE,),
            negative=kind.startswith("negative"),
        )
    except ValidationError as error:
        words = plain_words(error.errors(include_url=False)[0]["msg"])
        raise UserError(f"{path}: item {number}: {words}") from None


_IMPORTANCE = {"must have": Importance.MUST, "nice to have": Importance.NICE}


def _unknown(table: BaseModel, above: str = "") -> Iterator[str]:
    yield from (f"{above}{name}" for name in table.model_extra or {})
    for name in type(table).model_fields:
        value = getattr(table, name)
        if isinstance(value, BaseModel):
            yield from _unknown(value, f"{above}{name}.")


def _line(text: str, key: str) -> int:
    """Return the first line that has a key; the file's first where none has it."""
    lines = enumerate(text.splitlines(), start=1)
    return next((number for number, line in lines if re.match(rf"\s*\[?{re.escape(key)}\b", line)), 1)


@dataclass(frozen=True)
class ImageSource:
    """The source of a task's image. `whole` is one with upstream's whole tree, the withheld tests included.

    A `complete` one has all that the task's own Dockerfile would add to it.
    """

    tag: str
    whole: bool = False
    complete: bool = False


class _Entry(NamedTuple):
    image: str
    complete: bool = False


_EXPECTED = "expected PUBLISHED_NAME or REPOSITORY@COMMIT, then LOCAL_TAG or {image: LOCAL_TAG, complete: true}"


class ImageMap:
    """`--image-map FILE`: YAML, from a published image's name or from `repository@base_commit` to a local tag.

    In the place of a tag, `{image: TAG, complete: true}` names one on which the task's own Dockerfile isn't run.
    """

    def __init__(self, entries: Mapping[str, _Entry]) -> None:
        self._entries = entries

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a map of images.

        Raises:
            UserError: It is wrong; the message names the line.
        """
        data, node = parse_yaml(read_text(path), str(path))
        if not isinstance(data, dict):
            raise UserError(f"{path}:1: expected a mapping from published image names to local tags")
        entries: dict[str, _Entry] = {}
        for (name, value), (key, _) in zip(data.items(), getattr(node, "value", ()), strict=True):
            entry = _entry(value)
            if not isinstance(name, str) or entry is None:
                raise UserError(f"{path}:{key.start_mark.line + 1}: {_EXPECTED}")
            entries[name] = entry
        return cls(entries)

    def source(self, image: str, repository: str, base_commit: str) -> ImageSource:
        """Return what stands for a published image: itself, where the map has nothing of it."""
        if found := self._entries.get(image):
            return ImageSource(found.image, complete=found.complete)
        for name in (repository, repository.removesuffix(".git").removesuffix("/")):
            if found := self._entries.get(f"{name}@{base_commit}"):
                return ImageSource(found.image, whole=True, complete=found.complete)
        return ImageSource(image)


def _entry(value: object) -> _Entry | None:
    """Return None for what is no entry."""
    if isinstance(value, str):
        value = {"image": value}
    if not isinstance(value, dict) or not {"image"} <= value.keys() <= {"image", "complete"}:
        return None
    tag, complete = value["image"], value.get("complete", False)
    is_one = isinstance(tag, str) and bool(tag.strip()) and isinstance(complete, bool)
    return _Entry(tag, complete) if is_one else None
