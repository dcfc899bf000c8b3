"""A run of very many finished trials, made quickly: each file of one trial, hard-linked."""

import os
import shutil
from pathlib import Path

from harness.runs.plan import RunConfig, RunFile, slug
from harness.runs.store import find_trials
from harness.specs.reasons import ReasonCode
from harness.specs.yaml_files import yaml_text
from tests.support.run_folder import begun, evidenced, judged, run_folder, worked

MODELS = tuple(f"openai/model-{number}" for number in range(10))


def many_trials(directory: Path, count: int, attempts: int = 100) -> Path:
    """`count` trials of ten models, which is a multiple of ten times `attempts`; a third of them has failed."""
    made = directory / "made"
    run_folder(made)
    kinds = [
        evidenced(judged(worked(begun(made, "a-task", "mini", MODELS[0])))).directory,
        evidenced(judged(worked(begun(made, "a-task", "mini", MODELS[0], 2)), ReasonCode.SURVIVED_REMOVAL)).directory,
    ]
    assert len(list(find_trials(made))) == len(kinds)
    run = directory / "run"
    tasks = [f"task-{number:04}" for number in range(count // attempts // len(MODELS))]
    asked = {f"mini/{model}": dict.fromkeys(tasks, attempts) for model in MODELS}
    run.mkdir()
    file = RunFile(id="0", config=RunConfig(), isolation="docker", attempts=asked)
    (run / "run.yaml").write_text(yaml_text(file.model_dump(mode="json")))
    for task in tasks:
        # A file can't have more than some 65,000 names.
        kinds = [Path(shutil.copytree(kind, made / "copies" / task / kind.name)) for kind in kinds]
        for model in MODELS:
            for attempt in range(1, attempts + 1):
                to = run / "trials" / task / "mini" / slug(model) / str(attempt)
                _link(kinds[attempt % 3 == 0], to)
    return run


def _link(trial: Path, to: Path) -> None:
    (to / "submission").mkdir(parents=True)
    for path in trial.rglob("*"):
        if path.is_file():
            os.link(path, to / path.relative_to(trial))
