"""Which variants a task has, before anything is compiled."""

import asyncio

from harness.authoring.task_check.trees import kept_tree
from harness.languages.python.toolchain import PythonToolchain
from harness.languages.variant_source import VariantSource
from harness.specs.variants import VariantKind
from harness.verify.variants import plan_variants
from tests.support.sound_catalog import TASK, sound_catalog

FAIL = (VariantKind.REMOVAL_PRISTINE_SOURCE, VariantKind.PROBE)


def test_no_arm_in_which_tests_must_fail_is_built_in_a_way_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    task = sound_catalog(tmp_path / "catalog").task(TASK)

    async def plan() -> list[VariantSource]:
        async with kept_tree(task) as tree:
            return await plan_variants(task, tree, PythonToolchain(), 1)

    variants = asyncio.run(plan())

    def build(variant: VariantSource) -> tuple[bool, bool, bool]:
        return variant.disk == variants[0].disk, bool(variant.rewritten_lines), bool(variant.dead)

    placebos = {build(item) for item in variants if item.kind.behaves_like_baseline}
    failing = [item for item in variants if item.kind in FAIL]
    assert len(failing) == len(task.probes) + 1
    assert {build(item) for item in failing} <= placebos
