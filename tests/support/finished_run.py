"""A run of very many trials that a start finds finished: each has the identity and the verdict that are asked for."""

import hashlib
import os
from pathlib import Path

from harness import PROTOCOL_VERSION
from harness.runs.additions import AskedRun
from harness.runs.plan import RunConfig, Trial, plan_trials
from harness.runs.store import RunStore
from harness.runs.trial_store import TrialFile, TrialStore
from harness.sandbox.images.recipe import read_recipe
from harness.sandbox.images.task_images import task_tag
from harness.sandbox.images.work_tree import ImageRecord, image_place
from harness.specs.catalog import Catalog
from harness.specs.grading import ControlRound
from tests.support.run_folder import judged, verdict, worked
from tests.support.tiny_catalog import tiny_catalog

IMAGE = "sha256:an-image"
_ATTEMPTS = 100


def config(models: int) -> RunConfig:
    """100 attempts of each model at one task."""
    names = tuple(f"openai/model-{number}" for number in range(models))
    return RunConfig(tasks=("tiny-add",), scaffolds=("mini",), models=names, attempts=_ATTEMPTS)


def finished_run(place: Path, asked_for: RunConfig) -> AskedRun:
    """In `place/run`, of the catalog `place/catalog`. The cache directory comes to know the image."""
    tiny_catalog(place / "catalog", nonce="")
    (place / "catalog" / "tasks" / "tiny-add" / "removal.patch").write_text("")  # nobody comes to apply it
    trials = plan_trials(Catalog(place / "catalog"), asked_for)
    _image_is_known(trials[0])
    asked = AskedRun(asked_for, trials, "docker")
    store = RunStore(place / "run")
    store.describe(asked)
    store.close()
    for trial in trials:
        if trial.attempt == 1:  # a file can't have more than some 65,000 names
            kind = _finished(place / "made" / trial.place, trial)
            first, (head, tail) = trial.identity(IMAGE, "docker"), trial.identity_text(IMAGE, "docker")
        identity = hashlib.sha256(f"{head}{trial.attempt}{tail}".encode()).hexdigest()
        _copied(kind, (first, identity), place / "run" / "trials" / trial.place)
    return asked


def _image_is_known(trial: Trial) -> None:
    place = image_place(task_tag(trial.task, read_recipe(trial.task.repo)))
    place.tree.mkdir(parents=True)
    record = ImageRecord(
        reference=place.reference, digest=IMAGE, commit="0", engine_id="0", architecture="amd64", packages=()
    )
    (place.directory / "image.json").write_text(record.model_dump_json())


def _finished(directory: Path, trial: Trial) -> Path:
    store = TrialStore(directory)
    identity = trial.identity(IMAGE, "docker")
    store.begin(
        TrialFile(
            identity=identity, task=trial.task.id, scaffold=trial.scaffold.name, model=trial.model,
            attempt=trial.attempt, isolation="docker",
        )
    )  # fmt: skip
    worked(store)
    agent = store.agent()
    assert agent is not None
    (directory / "agent.json").write_text(agent.model_copy(update={"identity": identity}).model_dump_json())
    digests: dict[str, object] = {
        "task_digest": trial.task.digest,
        "repo_digest": trial.task.repo.digest,
        "image_digest": IMAGE,
    }
    digests |= {"protocol_version": PROTOCOL_VERSION, "control": ControlRound.DRAWN}
    record = verdict(store).model_copy(update=digests)
    judged(store, record=record)
    return directory


def _copied(kind: Path, identities: tuple[str, str], to: Path) -> None:
    """Make a trial of one of its kind: of the same model, with an identity of its own."""
    to.mkdir(parents=True)
    (to / "submission").mkdir()
    submission = [f"submission/{path.name}" for path in (kind / "submission").iterdir()]
    for name in ("verdict.json", "usage.json", *submission):
        os.link(kind / name, to / name)
    for name in ("trial.json", "agent.json"):
        (to / name).write_text((kind / name).read_text().replace(*identities))
