"""Ablations: a scaffold with other limits or templates (`--set KEY=VALUE`), which is another scaffold by name."""

import difflib
import hashlib
import math
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ValidationError

from harness.agents.registry import agent_class
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.scaffold import Ablation, Scaffold, ScaffoldKind, ScaffoldLimits
from harness.specs.schema_faults import plain_words
from harness.specs.task import Task, TaskLimits
from harness.specs.yaml_files import read_text

TASK_LIMITS = ("steps", "wall_seconds", "cost_usd")
"""The limits of a task that a scaffold may be given others of."""
_ANY = "scaffold."
_LONGEST_NAME = 120
"""Characters: it is the name of a directory."""


class _Setting(NamedTuple):
    """One `KEY=VALUE`. `scaffold` is the one it is meant for, empty for each that has the key."""

    text: str
    scaffold: str
    key: str
    value: str

    @property
    def name(self) -> str:
        """Return the name of the limit or the template."""
        return self.key.partition(".")[2]

    @property
    def is_template(self) -> bool:
        return self.key.startswith("templates.")

    def is_of(self, scaffold: Scaffold) -> bool:
        return self.scaffold in ("", scaffold.name) and self.key in _keys(scaffold)

    def wrong(self, why: str) -> UserError:
        return UserError(f"--set {self.text}: {why}")


def chosen_scaffolds(catalog: Catalog, names: Collection[str], overrides: Sequence[str]) -> list[Scaffold]:
    """Return the scaffolds of these names, each with those of the `KEY=VALUE` that it has the key of.

    Raises:
        UserError: None of them has a key, a key is given twice, or a value doesn't fit.
    """
    scaffolds = [catalog.scaffold(name) for name in dict.fromkeys(names)]
    settings = [_setting(text, scaffolds) for text in overrides]
    for setting in settings:
        if not any(setting.is_of(scaffold) for scaffold in scaffolds):
            raise _unknown(setting, scaffolds)
    return [_ablated(scaffold, [item for item in settings if item.is_of(scaffold)]) for scaffold in scaffolds]


def named_scaffold(catalog: Catalog, name: str, names: Collection[str], overrides: Sequence[str]) -> Scaffold:
    """Return the one of `chosen_scaffolds` that has this name.

    Raises:
        UserError: A template has changed since.
    """
    for scaffold in chosen_scaffolds(catalog, names, overrides):
        if scaffold.name == name:
            return scaffold
    raise UserError(f"scaffold {name!r} isn't there any more: a template that --set names has changed")


def limited(task: Task, scaffold: Scaffold) -> Task:
    """Return the task with the limits that the scaffold is given.

    Raises:
        UserError: The scaffold has more phases than the task.
    """
    if scaffold.limits.phases > len(task.prompts):
        raise UserError(
            f"--set phases={scaffold.limits.phases}: task {task.id} has one phase; those of build have two"
        )
    limits = scaffold.ablation.limits if scaffold.ablation else {}
    changed = {name: value for name, value in limits.items() if name in TASK_LIMITS}
    return task.limited(changed) if changed else task


def recorded(scaffold: Scaffold) -> dict[str, str]:
    """Return what was changed of a scaffold, for `run.yaml`."""
    ablation = scaffold.ablation
    if ablation is None:
        return {}
    templates = {f"templates.{name}": f"{path} (sha256 {_sha256(path)})" for name, path in ablation.templates.items()}
    return {**{f"limits.{name}": _number(value) for name, value in ablation.limits.items()}, **templates}


def with_whole_path(override: str) -> str:
    """Return an override that means the same from any directory: a template's file by its whole path."""
    key, equals, value = override.partition("=")
    if ".templates." not in f".{key}" or not value:
        return override
    return f"{key}{equals}{Path(value).expanduser().absolute()}"


def _setting(text: str, scaffolds: Sequence[Scaffold]) -> _Setting:
    key, equals, value = text.partition("=")
    of, _, name = key.rpartition(".")
    if name == "phases" and of.rpartition(".")[2] != "limits":
        key = ".".join(filter(None, (of, "limits", name)))
    if not (key and equals and value):
        raise UserError(f"--set {text}: expected KEY=VALUE, such as limits.steps=50, phases=2 or templates.task=FILE")
    for name in (scaffold.name for scaffold in scaffolds):
        if key.startswith(f"{name}."):
            return _Setting(text, name, key.removeprefix(f"{name}."), value)
    return _Setting(text, "", key.removeprefix(_ANY), value)


def _keys(scaffold: Scaffold) -> list[str]:
    """Return what can be set of a scaffold. Of a control nothing can: what it hands in has no limits and no texts."""
    if not agent_class(scaffold).needs_model:
        return []
    is_loop = scaffold.kind is ScaffoldKind.LOOP
    own = ScaffoldLimits.model_fields if is_loop else scaffold.limits.model_fields_set
    limits = [f"limits.{name}" for name in (*TASK_LIMITS, *own)]
    return [*limits, *(f"templates.{name}" for name in sorted({"request", *scaffold.templates}))]


def _unknown(setting: _Setting, scaffolds: Sequence[Scaffold]) -> UserError:
    asked = [scaffold for scaffold in scaffolds if setting.scaffold in ("", scaffold.name)]
    names = ", ".join(scaffold.name for scaffold in asked)
    known = list(dict.fromkeys(key for scaffold in asked for key in _keys(scaffold)))
    if not known:
        return setting.wrong(f"{names}: nothing can be set of a scaffold without a model")
    close = difflib.get_close_matches(setting.key, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
    return setting.wrong(f"{names}: unknown key {setting.key!r}; {hint}")


def _ablated(scaffold: Scaffold, settings: Sequence[_Setting]) -> Scaffold:
    if not settings:
        return scaffold
    limits: dict[str, float] = {}
    templates: dict[str, Path] = {}
    for setting in sorted(settings, key=lambda item: item.key):
        if setting.name in (templates if setting.is_template else limits):
            raise setting.wrong("this key is given twice; a run for each value, in the same -o, keeps both")
        if setting.is_template:
            templates[setting.name] = _template(setting)
        else:
            limits[setting.name] = _limit(setting)
    own = {name: value for name, value in limits.items() if name not in TASK_LIMITS}
    return scaffold.model_copy(
        update={
            "name": _name(scaffold.name, limits, templates),
            "agent": scaffold.agent_name,
            "limits": scaffold.limits.model_copy(update=own),
            "ablation": Ablation(base=scaffold.name, limits=limits, templates=templates),
        }
    )


def _limit(setting: _Setting) -> float:
    """Return a limit as its model has it. Raises UserError where the value doesn't fit."""
    model: type[BaseModel] = TaskLimits if setting.name in TASK_LIMITS else ScaffoldLimits
    try:
        value: float = getattr(model.model_validate({setting.name: setting.value}), setting.name)
    except ValidationError as error:
        raise setting.wrong(plain_words(error.errors(include_url=False)[0]["msg"])) from None
    if not math.isfinite(value):
        raise setting.wrong("Input should be a finite number")
    return value


def _template(setting: _Setting) -> Path:
    path = Path(setting.value)
    try:
        read_text(path)
    except UserError as error:
        raise setting.wrong(str(error)) from None
    return path


def _name(base: str, limits: dict[str, float], templates: dict[str, Path]) -> str:
    """Return such as `mini+limits.steps=50`: a directory's name, the same for the same changes and for no others."""
    parts = [f"limits.{name}={_number(value)}" for name, value in limits.items()]
    for name, path in templates.items():
        stem = re.sub(r"[^A-Za-z0-9_-]+", "_", path.stem)[:30]
        parts.append(f"templates.{name}={stem}-{_sha256(path)[:6]}")
    whole = "+".join([base, *parts])
    if len(whole) <= _LONGEST_NAME:
        return whole
    return f"{base}+{len(parts)}-settings-{hashlib.sha256(whole.encode()).hexdigest()[:8]}"


def _number(value: float) -> str:
    return repr(value).removesuffix(".0")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
