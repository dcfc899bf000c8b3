"""`arms.yaml` of a task on a stage: the application's variants, and what lies between it and the tests."""

import re
from difflib import get_close_matches
from itertools import combinations
from typing import Annotated, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from harness.judging.submission.policy import unsafe
from harness.specs.reasons import ReasonCode
from harness.specs.test_results import CriterionId
from harness.specs.yaml_files import FileModel

ArmWord = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
ProbeName = Annotated[str, StringConstraints(pattern=r"^[1-5]\.[0-9]{1,2}(-[a-z0-9]+)?$")]
ADDRESS, WINDOW, LOCALE, ZONE = "BASE_URL", "BROWSER_WINDOW", "BROWSER_LOCALE", "TZ"
"""Variables of the tests' environment: where the application is, and how contexts are that say nothing."""
_OURS, _ALIKE = "BROWSER_", 0.8
DRAWN_OPTIONS = frozenset({"port", "data"})
"""Options of the application's command that are ours."""
SameReason = Literal[
    "placebo-sensitive", "timing-dependent", "technique-not-shown", "markup-dependent", "data-dependent"
]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Edit(_Part):
    """A place of the application's source: `old` is there once, and `new` stands for it in this arm."""

    file: str = Field(min_length=1)
    old: str = Field(min_length=1)
    new: str

    @field_validator("file")
    @classmethod
    def _is_in_the_application(cls, file: str) -> str:
        if fault := unsafe(file):
            raise ValueError(f"{file!r} {fault}")
        return file

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if self.old == self.new:
            raise ValueError("old and new are the same")
        return self


class Refusal(_Part):
    """Requests whose path matches get this status, or a connection that breaks off."""

    path: str
    how: Annotated[int, Field(strict=True, ge=200, le=599)] | Literal["drop"]

    @field_validator("path")
    @classmethod
    def _is_a_pattern(cls, path: str) -> str:
        try:
            re.compile(path)
        except re.error as error:
            raise ValueError(f"no regular expression: {error}") from None
        return path


class Proxy(_Part):
    """Faults that the proxy adds to requests. in_container/proxy.py says what each does."""

    delay: tuple[Seconds, Seconds] = (0, 0)
    once: Seconds = 0
    pieces: int = Field(default=1, ge=1)
    markup: bool = False
    refuse: tuple[Refusal, ...] = ()

    @field_validator("delay")
    @classmethod
    def _least_comes_first(cls, delay: tuple[float, float]) -> tuple[float, float]:
        if delay[0] > delay[1]:
            raise ValueError("the least seconds come first, then the most")
        return delay


class StageArm(_Part):
    """An arm's application, and what surrounds the tests.

    `options` are its command's, by name, `env` is added to the tests' environment; `own_seconds` is what a test may
    take there.
    """

    edits: tuple[Edit, ...] = ()
    proxy: Proxy = Proxy()
    options: dict[str, str] = Field(default_factory=dict)
    env: dict[str, str] = Field(default_factory=dict)
    own_seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _leaves_what_is_drawn(self) -> Self:
        if taken := sorted(DRAWN_OPTIONS & self.options.keys()):
            raise ValueError(f"options: {taken[0]!r} is drawn for each arm")
        if ADDRESS in self.env:
            raise ValueError(f"env: {ADDRESS} is drawn for each arm")
        if (window := self.env.get(WINDOW)) is not None and not re.fullmatch(r"[1-9]\d*x[1-9]\d*", window):
            raise ValueError(f"env: {WINDOW} is a width and a height in pixels, such as 1100x640")
        if misspelt := next(filter(None, map(_misspelt, self.env)), ""):
            raise ValueError(f"env: {misspelt}")
        if (zone := self.env.get(ZONE)) is not None and not _is_zone(zone):
            raise ValueError(f"env: {ZONE}: {zone!r} is no time zone, such as Asia/Tokyo")
        return self

    @property
    def changes(self) -> "StageArm":
        """The differences from the application, without a name, a reason and what a test may take."""
        fields = StageArm.model_fields.keys() - {"own_seconds"}
        return StageArm.model_construct(**{name: getattr(self, name) for name in fields})


def _misspelt(variable: str) -> str:
    """Return why a variable of the environment can't be meant; empty where it can."""
    known = (WINDOW, LOCALE)
    close = get_close_matches(variable, known, n=1, cutoff=_ALIKE)
    if variable in known or not (close or variable.startswith(_OURS)):
        return ""
    hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
    return f"unknown variable {variable!r}; {hint}"


def _is_zone(name: str) -> bool:
    """Return whether a time zone has this name; where this machine has no list of them, any may be one."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return not available_timezones()
    return True


class SameArm(StageArm):
    """An arm in which each listed test must pass; `reason` is said of one that doesn't."""

    name: ArmWord
    reason: SameReason = "placebo-sensitive"

    @model_validator(mode="after")
    def _differs(self) -> Self:
        if self.changes == StageArm() and self.own_seconds is None:
            raise ValueError(f"the arm {self.name} differs in nothing from the application, and has no own_seconds")
        return self

    @property
    def variant(self) -> str:
        """The name of the variant that is made of it."""
        return f"same-{self.name}"

    @property
    def code(self) -> ReasonCode:
        return ReasonCode(self.reason)


class FailArm(StageArm):
    """An arm in which some listed test must fail: a probe of a criterion, `1.4` or `1.4-b`.

    `reason` is said where nothing but probes with it keep a criterion from being met. `retries`: its fault shows
    once.
    """

    probe: ProbeName
    reason: Literal["criterion-unmet", "retries"] = "criterion-unmet"

    @model_validator(mode="after")
    def _differs(self) -> Self:
        if self.changes == StageArm():
            raise ValueError(f"probe {self.probe} differs in nothing from the application")
        return self

    @property
    def criterion(self) -> CriterionId:
        return self.probe.partition("-")[0]

    @property
    def variant(self) -> str:
        """The name of the variant that is made of it."""
        return f"probe-{self.probe}"


class Structure(_Part):
    """A label that changes, by which it is measured in how many places a suite is to be mended.

    `edit` has `{label}` where the new one goes, which is drawn from `becomes`. A suite with fewer `tests` shows
    nothing, nor does one whose tests still pass there and don't notice `probe` any more.
    """

    label: str = Field(min_length=1)
    becomes: tuple[str, ...] = Field(min_length=2)
    edit: Edit
    probe: ProbeName
    tests: int = Field(default=3, ge=2)

    @model_validator(mode="after")
    def _has_a_place(self) -> Self:
        if self.edit.new.count("{label}") != 1 or self.label not in self.edit.old:
            raise ValueError("edit: old has the label, and new has {label} once in its place")
        if twice := [each for each in self.becomes if self.becomes.count(each) > 1]:
            raise ValueError(f"becomes: {twice[0]!r} is there twice")
        if alike := [each for each in self.becomes if self.label.lower() in each.lower()]:
            raise ValueError(f"becomes: {alike[0]!r} has the label {self.label!r}, so that tests still find it")
        return self

    def arm(self, label: str) -> StageArm:
        """Return the application with another label."""
        return StageArm(edits=(self.edit.model_copy(update={"new": self.edit.new.replace("{label}", label)}),))

    def with_mutant(self, label: str, mutant: FailArm) -> StageArm:
        """Return the application with another label and a mutant's fault."""
        return mutant.model_copy(update={"edits": (*self.arm(label).edits, *mutant.edits)})


class ArmsFile(FileModel):
    """`arms.yaml`. `technique` are the criteria that show the technique; the others are of behaviour.

    With `alone` the tests run once more in reverse, and so many of them, drawn, each by itself.
    """

    same: tuple[SameArm, ...] = Field(min_length=1)
    must_fail: tuple[FailArm, ...] = Field(min_length=1)
    technique: tuple[CriterionId, ...] = ()
    alone: int = Field(default=0, ge=0)
    structure: Structure | None = None

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        names = [*(arm.variant for arm in self.same), *(arm.variant for arm in self.must_fail)]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"arm {twice[0]!r} is there twice")
        if unknown := set(self.technique) - {arm.criterion for arm in self.must_fail}:
            raise ValueError(f"technique: no arm of must_fail has the criterion {min(unknown)!r}")
        if self.structure and self.structure.probe not in {arm.probe for arm in self.must_fail}:
            raise ValueError(f"structure: no arm of must_fail is the probe {self.structure.probe!r}")
        for first, second in combinations(self.must_fail, 2):
            if first.changes == second.changes:
                raise ValueError(f"must_fail: {first.probe} and {second.probe} change the same; leave one out")
        return self

    def mutant(self, probe: str) -> FailArm:
        """Return the arm of a probe. Raises StopIteration for one that isn't there."""
        return next(arm for arm in self.must_fail if arm.probe == probe)
