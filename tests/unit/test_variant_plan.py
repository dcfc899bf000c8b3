"""Which variants a judging has, before anything is compiled: what their text and their code say of them."""

import asyncio
import shutil
from collections import Counter
from collections.abc import Sequence

import pytest

from harness.authoring.task_check.subject import kept_tree
from harness.judging.languages.python.language import PythonToolchain
from harness.judging.languages.variant_source import VariantSource
from harness.judging.verify.task_texts import TaskTexts, read_texts
from harness.judging.verify.variants import draw_variants, drawn_again, plan_variants
from harness.specs.task import Task
from harness.specs.variants import VariantKind
from tests.support.sound_catalog import OTHERWISE, PRODUCT, TASK, UPON_PLACEBO, changed, sound_catalog

SEEDS = range(40)
SECOND = ("    for number in numbers:\n", "    for number in list(numbers):\n")
"""Another twin of the probe 1.2."""


@pytest.fixture(scope="module", params=["a plain task", "a whole task"])
def texts_and_plans(request, tmp_path_factory):
    """The task, its texts, and a plan for each seed."""
    place = tmp_path_factory.mktemp("plans")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TESTWRIGHT_CACHE", str(place / "cache"))
        task = sound_catalog(place / "catalog").task(TASK)
        if request.param == "a whole task":
            (task.directory / "twins" / "1.2_2.patch").write_text(changed("sums.py", PRODUCT, *SECOND))
        else:
            for name in ("twins", "probes-on-placebo"):
                shutil.rmtree(task.directory / name)
            for name in ("placebo.patch", "garbage.patch"):
                (task.directory / name).unlink()

        async def plans() -> tuple[Task, TaskTexts, list[list[VariantSource]]]:
            async with kept_tree(task) as tree:
                texts = await read_texts(task, tree)
                return task, texts, [draw_variants(task, texts, True, seed) for seed in SEEDS]

        return asyncio.run(plans())


def groups(plan: Sequence[VariantSource]) -> tuple[list[VariantSource], list[VariantSource]]:
    """Variants but the baseline under which tests must pass, and those under which they must fail."""
    good = [item for item in plan if item.kind.behaves_like_baseline and item.kind is not VariantKind.BASELINE]
    return good, [item for item in plan if not item.kind.behaves_like_baseline]


def test_only_the_baseline_runs_what_an_agent_saw(texts_and_plans):
    _, texts, plans = texts_and_plans
    for plan in plans:
        baseline, *others = plan
        assert (baseline.kind, baseline.seed) == (VariantKind.BASELINE, None)
        assert baseline.disk == baseline.code == texts.pristine
        assert len({item.seed for item in others} - {None}) == len(others)
        assert {item.name for item in plan if item.kind is VariantKind.BASELINE} == {"baseline"}


def test_there_are_as_many_variants_of_the_same_behaviour_as_mutants_and_their_number_is_drawn(texts_and_plans):
    task, _, plans = texts_and_plans
    for plan in plans:
        kinds = Counter(item.kind for item in plan)
        assert kinds[VariantKind.REMOVAL] == 2
        assert kinds[VariantKind.GARBAGE] == (2 if task.has_garbage else 0)
        assert kinds[VariantKind.PROBE] == len(task.probes)
        assert kinds[VariantKind.REWRITTEN] + kinds[VariantKind.TWIN] >= 4 + len(task.probes)
    assert len({len(groups(plan)[0]) for plan in plans}) == 3


def test_each_probe_has_a_twin_and_which_one_is_drawn(texts_and_plans):
    task, _, plans = texts_and_plans
    if task.twins:
        drawn = [{item.name for item in plan if item.kind is VariantKind.TWIN} for plan in plans]
        assert {frozenset(names) for names in drawn} == {
            frozenset({"twin-1.1", second, "twin-1.3", "twin-1.4"}) for second in ("twin-1.2", "twin-1.2_2")
        }


def test_a_probe_runs_on_pristine_code_or_on_the_placebo_by_chance(texts_and_plans):
    task, texts, plans = texts_and_plans
    seen = {item.code["sums.py"] for plan in plans for item in plan if item.name == "probe-1.3"}
    forms = {texts.probes["probe-1.3"]["sums.py"]}
    if task.has_authored_placebo:
        forms.add(OTHERWISE.replace(*UPON_PLACEBO["1.3"]).encode())
    assert seen == forms


def test_both_groups_show_every_sort_of_text(texts_and_plans):
    task, texts, plans = texts_and_plans
    for plan in plans:
        good, bad = groups(plan)
        shown = [item.disk for item in good]
        assert all(files in shown for files in texts.mutants), "each mutant's text lies under code that is right"
        assert any(files not in texts.mutants and files != texts.pristine for files in shown)
        if task.twins:
            assert any(item.disk == item.code != texts.pristine for item in good)
        assert any(item.disk == texts.pristine for item in bad)
        assert any(item.disk == item.code for item in bad)
        assert any(item.disk != item.code and item.disk in texts.mutants for item in bad)
        assert any(item.disk not in texts.mutants and item.disk != texts.pristine for item in bad)


def test_a_text_says_nothing_of_the_group(texts_and_plans):
    """Over many draws as large a part of both groups shows broken text, pristine text, or another good one."""
    _, texts, plans = texts_and_plans
    shares = []
    for group in (0, 1):
        disks = [item.disk for plan in plans for item in groups(plan)[group]]
        broken = sum(files in texts.mutants or files in texts.on_placebo.values() for files in disks) / len(disks)
        pristine = sum(files == texts.pristine for files in disks) / len(disks)
        shares.append((broken, pristine))
    assert shares[0] == pytest.approx(shares[1], abs=0.2)


def test_every_variant_but_the_baseline_has_as_many_right_bodies_as_broken_ones_in_any_order(texts_and_plans):
    _, texts, plans = texts_and_plans
    good_texts = {files["sums.py"] for files in (texts.pristine, *texts.benign)}
    bad_texts = {files["sums.py"] for files in (*texts.mutants, *texts.on_placebo.values())}
    for plan in plans:
        assert not plan[0].inert
        for item in plan[1:]:
            bodies = [item.code["sums.py"], *item.inert["sums.py"]]
            assert sorted(text in good_texts for text in bodies) == [False, False, True, True]
    for group in (0, 1):
        lent = [item.inert["sums.py"] for plan in plans for item in groups(plan)[group]]
        assert {text for bodies in lent for text in bodies} == good_texts | bad_texts
        assert {bodies[0] in good_texts for bodies in lent} == {True, False}


def test_the_broken_bodies_of_an_arm_are_one_mutants_and_each_mutants_lie_beside_right_code(texts_and_plans):
    """Or what one of them lacks, counted, would tell the arm in which it runs."""
    task, texts, plans = texts_and_plans
    forms = {str(kind): {files["sums.py"]} for kind, files in texts.removals.items()}
    for name, files in texts.probes.items():
        forms[name] = {files["sums.py"], texts.on_placebo.get(name, files)["sums.py"]}
    good_texts = {files["sums.py"] for files in (texts.pristine, *texts.benign)}
    for plan in plans:
        good, bad = groups(plan)
        for item in good:
            broken = {text for text in item.inert["sums.py"] if text not in good_texts}
            assert any(broken <= of_one for of_one in forms.values())
            if item.kind is VariantKind.TWIN:
                [probe] = {twin.probe for twin in task.twins if twin.variant == item.name}
                assert broken <= forms[f"probe-{probe}"]
        for of_one in forms.values():
            assert any(of_one & set(item.inert["sums.py"]) for item in good)
        for item in bad:
            own = forms[item.name] if item.name in forms else forms[str(item.kind)]
            assert own & set(item.inert["sums.py"])


def test_every_variant_knows_all_texts_that_any_of_them_runs(texts_and_plans):
    _, texts, plans = texts_and_plans
    for plan in plans:
        assert {frozenset(item.family["sums.py"]) for item in plan} == {frozenset(texts.family["sums.py"])}
        assert all(item.code["sums.py"] in item.family["sums.py"] for item in plan)


def test_the_same_seed_gives_the_same_plan_and_a_second_look_another_rewriting(tmp_path, monkeypatch):
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    task = sound_catalog(tmp_path / "catalog").task(TASK)

    async def plan(seed: int) -> list[VariantSource]:
        async with kept_tree(task) as tree:
            return await plan_variants(task, tree, PythonToolchain(), seed)

    first, again, other = (asyncio.run(plan(seed)) for seed in (1, 1, 2))
    assert first == again
    assert [item.seed for item in first[1:5]] != [item.seed for item in other[1:5]]
    assert drawn_again(first[1], 2).seed not in {item.seed for item in first}
    assert drawn_again(first[1], 2) == drawn_again(first[1], 2)
