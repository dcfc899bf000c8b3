"""Any byte of any file of a finished run is changed, or the file is cut: no other verdict, nothing paid, one line."""

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.cli.main import main
from harness.results.run_rows import load_rows
from harness.runs.regrade import regrade
from harness.sandbox.images.recipe import read_recipe
from harness.sandbox.images.task_images import task_tag
from harness.sandbox.images.work_tree import ImageRecord, image_place
from harness.specs.errors import UserError
from harness.specs.reasons import ReasonCode, Verdict
from tests.faults.test_damaged_trials import files_of
from tests.support.runs_here import RunsHere, runs_here
from tests.support.scenes import Scene, scenes
from tests.support.sound_catalog import TASK


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Scene, Path]]:
    """A finished run of the reference, and a copy of it as it was left."""
    place = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TESTWRIGHT_CACHE", str(place / "cache"))
        with scenes(place, {}) as make:
            scene = make()
            [outcome] = scene.run().outcomes
            assert outcome.verdict is Verdict.RESOLVED
            yield scene, Path(shutil.copytree(scene.output, place / "kept"))


def put_back(scene: Scene, kept: Path) -> None:
    shutil.rmtree(scene.output)
    shutil.copytree(kept, scene.output)


def damages(seed: int) -> Iterator[tuple[str, Callable[[Path], None]]]:
    """What is done to a file, by a name that tells it again."""
    chance = random.Random(seed)

    def changed(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[chance.randrange(len(data))] ^= chance.randrange(1, 256)
        path.write_bytes(data)

    def cut(path: Path) -> None:
        data = path.read_bytes()
        path.write_bytes(data[: chance.randrange(len(data))])

    yield "a byte", changed
    yield "cut", cut
    yield "empty", lambda path: path.write_bytes(b"") and None
    yield "gone", Path.unlink


def command(scene: Scene, capsys: pytest.CaptureFixture[str], *arguments: str) -> int:
    """The status of a command; what it says has no traceback."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["testwright", "--catalog", str(scene.catalog.directory), *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
    assert "Traceback" not in capsys.readouterr().err
    return int(ended.value.code or 0)


def verdicts_after(scene: Scene, damaged: str) -> Iterator[Verdict | None]:
    """What a resume and regradings come to; nothing of a run whose run.yaml is refused."""
    try:
        yield from (outcome.verdict for outcome in scene.run().outcomes)
        for stage in ("rubric", "manifest"):
            for done in regrade(scene.catalog, scene.output, stage, None, True, lambda _: None):
                yield done.new.verdict if done.new else None
    except UserError:  # a run.yaml that can't be read, or says something else
        assert not (scene.output / "run.yaml").exists() or "run.yaml" in damaged


@pytest.mark.fault(
    "any byte of any file of a finished run is changed, or the file is cut, emptied or gone",
    "no verdict but the old one or unscored; no agent works again; show and report go on",
)
@pytest.mark.long
@pytest.mark.parametrize("seed", range(int(os.environ.get("TESTWRIGHT_DAMAGES", "1"))))
@pytest.mark.parametrize("kind", ["a byte", "cut", "empty", "gone"])
def test_no_damage_to_one_file_makes_another_verdict_or_pays_again(finished, kind, seed, capsys):
    scene, kept = finished
    known = dict(damages(seed))
    for file in files_of(kept):
        for name, damage in ((kind, known[kind]),):
            if not (kept / file).stat().st_size and name != "gone":
                continue
            put_back(scene, kept)
            damage(scene.output / file)
            scene.sandboxes.clear()
            if (scene.output / "run.yaml").exists():
                shown = load_rows(scene.output).trials
                assert {row.verdict for row in shown} <= {Verdict.RESOLVED, None}, (file, name)
                for words in (("show", str(scene.output)), ("report", str(scene.output))):
                    assert command(scene, capsys, *words) in (0, 1, 2), (file, name)
            found = set(verdicts_after(scene, str(file)))
            assert found <= {Verdict.RESOLVED, Verdict.UNSCORED, None}, (file, name, found)
            assert not scene.sandboxes, f"{file}, {name}: the agent was asked again"


@pytest.mark.fault(
    "evidence.json tells another outcome of a test, as valid JSON",
    "regrade --stage rubric judges nothing by it and says to run the arms again; the verdict stays",
)
@pytest.mark.parametrize("sums", ["kept", "of an earlier version"])
def test_changed_evidence_is_not_judged_by(finished, sums):
    scene, kept = finished
    put_back(scene, kept)
    [path] = scene.output.rglob("evidence.json")
    whole = path.read_text()
    facts = json.loads(whole)
    assert len(facts["evidence_sha256"]) == 64
    if sums == "kept":
        changed = whole.replace('"passed"', '"failed"')
        assert changed != whole
        path.write_text(changed)
        [done] = regrade(scene.catalog, scene.output, "rubric", None, True, lambda _: None)
        assert done.new is None
        assert "evidence.json is damaged; its arms must run again" in done.complaint
        assert [row.verdict for row in load_rows(scene.output).trials] == [Verdict.RESOLVED]
        [done] = regrade(scene.catalog, scene.output, "mutation", None, True, lambda _: None)
        assert json.loads(path.read_text())["evidence_sha256"]
    else:
        del facts["evidence_sha256"]
        path.write_text(json.dumps(facts))
        [done] = regrade(scene.catalog, scene.output, "rubric", None, True, lambda _: None)
    assert done.new is not None
    assert done.new.verdict is Verdict.RESOLVED


@pytest.mark.fault(
    "patch or manifest of a judged submission is damaged", "harness-error with the file's name, never a verdict"
)
@pytest.mark.parametrize(
    ("name", "cut"),
    [
        ("patch.diff", lambda data: data[: len(data) // 2]),
        ("patch.diff", lambda data: data[: data.rindex(b"@@ -")]),
        ("patch.diff", lambda _data: b""),
        ("manifest.yaml", lambda data: data[: len(data) // 2]),
        ("manifest.yaml", lambda _data: b""),
    ],
    ids=["half a patch", "a patch without a hunk", "an empty patch", "half a manifest", "an empty manifest"],
)
def test_a_damaged_submission_is_a_harness_error_that_names_the_file(finished, name, cut):
    scene, kept = finished
    put_back(scene, kept)
    [path] = scene.output.rglob(f"submission/{name}")
    path.write_bytes(cut(path.read_bytes()))
    [row] = load_rows(scene.output).trials
    assert name in row.problem
    assert row.verdict is Verdict.RESOLVED
    [done] = regrade(scene.catalog, scene.output, "manifest", None, True, lambda _: None)
    assert done.new is None
    assert f"harness-error: {path}: it isn't what was handed in" in done.complaint
    [verdict] = scene.output.rglob("verdict.json")
    verdict.unlink()
    [outcome] = scene.run().outcomes
    [reason] = outcome.reasons
    assert reason.code is ReasonCode.HARNESS_ERROR
    assert reason.words.startswith(f"{path}: it isn't what was handed in")
    path.write_bytes((kept / path.relative_to(scene.output)).read_bytes())
    [outcome] = scene.run().outcomes
    assert outcome.verdict is Verdict.RESOLVED, "put back, it is judged as ever"


@pytest.mark.fault("a run of an earlier version is read", "its agent.json has no sums, and it is judged as ever")
def test_a_submission_without_sums_is_judged_as_ever(finished):
    scene, kept = finished
    put_back(scene, kept)
    [path] = scene.output.rglob("agent.json")
    facts = json.loads(path.read_text())
    assert len(facts.pop("patch_sha256")) == len(facts.pop("manifest_sha256")) == 64
    path.write_text(json.dumps(facts))
    [done] = regrade(scene.catalog, scene.output, "manifest", None, True, lambda _: None)
    assert done.new is not None
    assert done.new.verdict is Verdict.RESOLVED


@pytest.mark.fault("a finished run starts again below --min-free-disk", "its verdicts are found; nothing waits")
def test_a_finished_run_needs_no_room(finished):
    scene, kept = finished
    put_back(scene, kept)
    task = scene.catalog.task(TASK)
    place = image_place(task_tag(task, read_recipe(task.repo)))
    place.tree.mkdir(parents=True)
    record = ImageRecord(
        reference=place.reference, digest=f"digest of {TASK}", commit="0", engine_id="0", architecture="", packages=()
    )
    (place.directory / "image.json").write_text(record.model_dump_json())
    scene.engine.name = "docker"  # of which the digest is known before the image is made
    [outcome] = scene.run(min_free_disk_gb=1e9, tries=1, extend=True).outcomes
    assert outcome.verdict is Verdict.RESOLVED


@pytest.fixture
def here(tmp_path: Path) -> Iterator[RunsHere]:
    with runs_here(tmp_path) as runs:
        yield runs


@pytest.mark.fault("trial.json is a directory", "one trial is unscored in one line; the others go on")
def test_a_record_that_is_a_directory_costs_its_trial(here):
    here.run(attempts=2)
    folder = here.store(attempt=1).directory
    (folder / "trial.json").unlink()
    (folder / "trial.json").mkdir()
    first, second = here.run(attempts=2).outcomes
    assert (first.verdict, second.verdict) == (Verdict.UNSCORED, Verdict.FAILED)
    assert f"{folder / 'trial.json'}: Is a directory; mend that" in first.reasons[0].words
    assert len(load_rows(here.output).trials) == 2


@pytest.mark.fault("a trial's directory is a file", "one trial is unscored; show and run do all others")
def test_a_trial_directory_that_cannot_be_read_costs_its_trial(here):
    here.run(attempts=2)
    folder = here.store(attempt=1).directory
    shutil.rmtree(folder)
    folder.write_text("no directory")
    assert [row.verdict for row in load_rows(here.output).trials] == [None, Verdict.FAILED]
    first, second = here.run(attempts=2).outcomes
    assert (first.verdict, second.verdict) == (Verdict.UNSCORED, Verdict.FAILED)


@pytest.mark.fault("a prompt is edited and put back", "the work that was set aside is taken up again, not paid")
def test_work_that_was_set_aside_is_taken_up_when_its_task_is_put_back(here):
    here.run()
    [before] = here.output.rglob("agent.json")
    text = before.read_bytes()
    prompt = here.directory / "catalog" / "tasks" / "tiny-add" / "prompt.md"
    old = prompt.read_text()
    prompt.write_text(old + "\nPlease.\n")
    here.run()
    assert (here.store().directory.with_name("1.other-1") / "agent.json").read_bytes() == text
    prompt.write_text(old)
    here.run()
    assert (here.store().directory / "agent.json").read_bytes() == text
    log = (here.store().directory / "log.txt").read_text()
    assert log.count("agent begins") == 1
    assert "taken up again" in log


@pytest.mark.fault("run.yaml is empty", "one line with what to do")
def test_an_empty_run_file_is_refused_with_a_remedy(here):
    here.run()
    (here.output / "run.yaml").write_text("")
    with pytest.raises(
        UserError, match=r"run\.yaml:1: .*put the file back from a copy, or begin another run with -o"
    ):
        here.run(extend=False)
