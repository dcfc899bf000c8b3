"""A task of each language with few of its criteria: a whole trial in real containers, with a third of the arms.

For tests of what is around a verification. What a verification finds is tested with whole tasks. And tasks on a stage
with few arms, for suites whose reason shows in these.
"""

import shutil
from pathlib import Path

import yaml

from harness.plugins.browser.task import StagedTask
from harness.specs.catalog_places import default_directory
from harness.specs.rubric import GradedBy

LIGHT = ("aiosmtpd-proxy-tlv", "shellquote-words", "jansson-object-merge", "zod-stringbool")
TASK = LIGHT[0]
KEPT = ("1.2",)
"""Of the criteria that a probe decides; those that code or a judge decides are all kept."""
FOLDERS = ("tasks", "repos", "rubrics", "scaffolds")


def light_catalog(directory: Path, shipped: Path | None = None) -> Path:
    """`directory` becomes the shipped catalog, but the tasks of `LIGHT` lack most probes. Their images stay.

    A directory that is there already has become it before. `shipped` is the catalog of another installation.
    """
    if directory.exists() and any(directory.iterdir()):
        return directory
    for folder in FOLDERS:
        shutil.copytree((shipped or default_directory()) / folder, directory / folder)
    for task in LIGHT:
        _lighten(directory / "tasks" / task, directory / "rubrics" / f"{task}.yaml")
    return directory


def _lighten(task: Path, rubric_file: Path) -> None:
    rubric = yaml.safe_load(rubric_file.read_text())
    dropped = {each["id"] for each in rubric["criteria"] if "probe" in each["graded_by"]}.difference(KEPT)
    rubric["criteria"] = [each for each in rubric["criteria"] if each["id"] not in dropped]
    rubric_file.write_text(yaml.safe_dump(rubric))
    for patch in [*task.glob("probes*/*.patch"), *task.glob("twins/*.patch")]:
        if patch.stem.partition("_")[0] in dropped:
            patch.unlink()
    covers_file = task / "reference" / "covers.yaml"
    covers = yaml.safe_load(covers_file.read_text())
    for tests in covers.values():
        tests.update({test: [each for each in criteria if each in KEPT] for test, criteria in tests.items()})
    covers_file.write_text(yaml.safe_dump(covers))


def light_stage(task: StagedTask) -> StagedTask:
    """The same task with few of its arms and criteria; its files and its image stay.

    Of the arms of the same behaviour the first with each reason is left. Of the criteria that a mutant decides those
    are that show the technique, have a mutant with a reason of its own, or are measured by another label; else the
    first one.
    """
    arms = task.arms
    same = {each.reason: each for each in reversed(arms.same)}.values()
    kept = {*arms.technique, *(each.criterion for each in arms.must_fail if each.reason != "criterion-unmet")}
    if arms.structure:
        kept.add(arms.mutant(arms.structure.probe).criterion)
    kept = kept or {arms.must_fail[0].criterion}
    few = {
        "same": tuple(each for each in arms.same if each in same),
        "must_fail": tuple(each for each in arms.must_fail if each.criterion in kept),
    }
    criteria = tuple(each for each in task.rubric.criteria if GradedBy.PROBE not in each.graded_by or each.id in kept)
    return StagedTask(
        file=task.file,
        repo=task.repo,
        rubric=task.rubric.model_copy(update={"criteria": criteria}),
        directory=task.directory,
        arms=arms.model_copy(update=few),
        stable=task.stable,
    )
