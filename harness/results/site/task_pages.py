"""A page for each task: what is asked for, by what it is judged, and which system's tests notice which probe."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.results.site.material import Material, SiteTrial, System, task_page
from harness.results.site.pages import LongTexts, Pages
from harness.specs.errors import UserError
from harness.specs.rubric import AXES
from harness.specs.task import Task

_MAX_COLUMNS, _MAX_PATCH = 60, 6_000


@dataclass(frozen=True)
class ProbeCell:
    """The number of a trial's tests that notice a probe; None where its arms weren't reached."""

    killers: tuple[str, ...] | None

    @property
    def words(self) -> str:
        if self.killers is None:
            return "not judged"
        return f"noticed by {', '.join(self.killers[:5])}" if self.killers else "no test notices it"


@dataclass(frozen=True)
class ProbeLine:
    """A line of a task's table: a probe, and which systems notice it."""

    name: str
    cells: Sequence[ProbeCell]

    @property
    def killed(self) -> int:
        return sum(bool(cell.killers) for cell in self.cells)

    @property
    def judged(self) -> int:
        return sum(cell.killers is not None for cell in self.cells)


def write_task(pages: Pages, material: Material, name: str) -> None:
    """Write a task's page; of one that the catalog hasn't any more, with what its trials' verdicts say."""
    page = task_page(name)
    texts = LongTexts(pages, page)
    task = material.tasks.get(name)
    trials = [(system, trial) for system in material.systems for trial in system.at(name)]
    judged = [(system, trial) for system, trial in trials if _probes_of(trial)]
    lines = _probe_lines(task, [trial for _, trial in judged[:_MAX_COLUMNS]])
    pages.write(
        page,
        "task.html.j2",
        name=name,
        task=task,
        changed=name in material.changed,
        request=texts.cut(task.prompt, "request.txt") if task else None,
        axes=AXES,
        systems=[(system, system.scores[name]) for system in material.systems if name in system.scores],
        trials=trials,
        columns=judged[:_MAX_COLUMNS],
        left_out=max(0, len(judged) - _MAX_COLUMNS),
        lines=lines,
        patches=_patches(task, texts),
        met=_met(trials),
    )


def _probes_of(trial: SiteTrial) -> dict[str, tuple[str, ...]]:
    """Return probe -> the tests that notice it."""
    criteria = trial.row.record.stages.rubric.criteria if trial.row.record else ()
    return {probe: tests for item in criteria for probe, tests in item.killed_by.items()}


def _probe_lines(task: Task | None, trials: Sequence[SiteTrial]) -> list[ProbeLine]:
    killed = [_probes_of(trial) for trial in trials]
    names = [probe.name for probe in task.probes] if task else []
    names = list(dict.fromkeys([*names, *(probe for found in killed for probe in found)]))
    names.sort(key=_natural)
    return [ProbeLine(name, [ProbeCell(found.get(name)) for found in killed]) for name in names]


def _natural(name: str) -> tuple[list[int], str]:
    """Return a key that sorts `1.10` after `1.9`."""
    number, _, rest = name.partition("-")
    return [int(part) if part.isdigit() else 0 for part in number.split(".")], rest


def _patches(task: Task | None, texts: LongTexts) -> list[tuple[str, object]]:
    found = []
    for probe in task.probes if task else ():
        try:
            text = task.patch(f"probes/{probe.name}.patch").decode(errors="replace") if task else ""
        except UserError:
            continue
        found.append((probe.name, texts.cut(text, f"probe-{probe.name}.txt", _MAX_PATCH)))
    return sorted(found, key=lambda pair: _natural(pair[0]))


def _met(trials: Sequence[tuple[System, SiteTrial]]) -> dict[str, tuple[int, int]]:
    """Return criterion -> (trials that meet it, trials where it was decided)."""
    found: dict[str, tuple[int, int]] = {}
    for _, trial in trials:
        for item in trial.row.record.stages.rubric.criteria if trial.row.record else ():
            if item.met is not None:
                met, decided = found.get(item.id, (0, 0))
                found[item.id] = met + item.met, decided + 1
    return found
