"""The page on which tasks and trials are searched. Its data are a script: pages from disk can't ask for files."""

import json
from typing import Any

from harness.results.failing.criteria import criteria_of
from harness.results.failing.funnel import lost_at
from harness.results.filters import NO_VERDICT
from harness.results.site.material import TRIAL_DATA, TRIALS, Material, SiteTrial, link, task_page
from harness.results.site.pages import Pages, visible
from harness.specs.reasons import Verdict

_WORDS = 200
"""Characters of a first reason."""


def write_trial_list(pages: Pages, material: Material) -> None:
    """Write the page and its data."""
    data = {
        "tasks": [_task(material, name) for name in material.task_names],
        "systems": [{"label": visible(system.label), "style": system.style} for system in material.systems],
        "trials": [
            _trial(material, trial, number)
            for number, system in enumerate(material.systems)
            for trial in system.trials
        ],
    }
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True)
    pages.write_script(TRIAL_DATA, f"const RESULTS = {text};\n")
    pages.write(
        TRIALS,
        "trials.html.j2",
        material=material,
        verdicts=[*Verdict, NO_VERDICT],
        systems=material.systems,
        tracks=[track.name for track in material.tracks],
    )


def _task(material: Material, name: str) -> dict[str, Any]:
    task = material.tasks.get(name)
    about = [task.file.title, task.repo.name, task.file.kind, *task.file.tags] if task else []
    found = {"name": visible(name), "href": link(task_page(name)), "about": visible(", ".join(about))}
    return {**found, "track": material.track_of[name]}


def _trial(material: Material, trial: SiteTrial, system: int) -> dict[str, Any]:
    row = trial.row
    words = f"{row.reasons[0].subject} {row.reasons[0].words}".strip() if row.reasons else row.problem
    return {
        "task": visible(row.task),
        "system": system,
        "number": row.attempt,
        "run": visible(trial.run.name) if len(material.runs) > 1 else "",
        "verdict": row.verdict or NO_VERDICT,
        "stage": lost_at(row) or "",
        "reasons": list(dict.fromkeys(reason.code for reason in row.reasons)),
        "words": visible(words[:_WORDS]),
        "unmet": [visible(item.id) for item in criteria_of(row) if item.met is False],
        "met": [visible(item.id) for item in criteria_of(row) if item.met],
        "href": trial.link,
        "track": material.track_of[row.task],
    }
