"""Honest suites on machine rewritings of pristine code: every test that fails is a fault of the language's catalogue.

usage: rewritings.py TASK ... [--seeds=N] [--from=SEED] [--sandbox=docker]

Each seed is one variant, drawn and compiled as arms are: all functions that any variant of the task touches are
rewritten, the bodies of the removal and of one probe lie within them. The task's reference and its sufficient suites
of tests/honest run on it in real containers. Prints a line for each suite and what failed; exit status 1 where
something did.
"""

import asyncio
import random
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from harness.judging.languages.toolchain import CompiledVariant
from harness.judging.languages.variant_source import VariantSource
from harness.judging.submission.extraction import Submission
from harness.judging.verify.arms import ArmContext, ArmRunner, Suite
from harness.judging.verify.evidence import BASELINE, listed_arm, passed
from harness.judging.verify.task_texts import changed_by_each
from harness.judging.verify.verification import read_submission, suite_of
from harness.runs.engine_session import engine_session
from harness.runs.submissions import read_batch
from harness.sandbox.git_tree import GitTree
from harness.specs.catalog import Catalog
from harness.specs.reasons import Verdict
from harness.specs.task import Task
from harness.specs.variants import VariantKind

CHECKOUT = Path(__file__).parents[1]
TOGETHER = 10
"""Seeds that are compiled in one container."""


def main() -> int:
    tasks = [word for word in sys.argv[1:] if not word.startswith("--")]
    options = dict(word.removeprefix("--").split("=", 1) for word in sys.argv[1:] if word.startswith("--"))
    sandbox = options.get("sandbox", "docker")
    first, count = int(options.get("from", 1)), int(options.get("seeds", 10))
    failed = [asyncio.run(measure(Catalog().task(name), sandbox, range(first, first + count))) for name in tasks]
    return int(any(failed))


async def measure(task: Task, sandbox: str, seeds: Sequence[int]) -> int:
    """How many tests failed under how many seeds, summed over the suites. Prints them."""
    failures = 0
    async with engine_session(sandbox, f"rewritings-{task.id}") as session:
        image = await session.engine.image(task)
        context = session.arm_context(task, image)
        suites = {name: await suite_in(task, context, item) for name, item in submissions(task).items()}
        pristine, family = await texts_of(task, GitTree(image.tree))
        for start in range(0, len(seeds), TOGETHER):
            sources = [source_of(pristine, family, seed) for seed in seeds[start : start + TOGETHER]]
            plain = VariantSource(BASELINE, VariantKind.BASELINE, pristine, pristine)
            compiled = await context.toolchain.compile(context, [plain, *sources])
            for name, suite in suites.items():
                failures += await report(context, task, name, suite, compiled)
    return failures


def submissions(task: Task) -> dict[str, Submission]:
    """The task's reference, and its honest suites that must be resolved."""
    reference = task.directory / "reference"
    found = {"reference": Submission((reference / "tests.patch").read_bytes(), _manifest(reference))}
    for case in read_batch(Catalog(), CHECKOUT / "tests" / "honest", None):
        sufficient = case.expected is not None and case.expected.verdict is Verdict.RESOLVED
        if case.task.id == task.id and sufficient and case.submission:
            found[case.name] = case.submission
    return found


def _manifest(directory: Path) -> bytes:
    return (directory / "manifest.yaml").read_bytes()


async def suite_in(task: Task, context: ArmContext, submission: Submission) -> Suite:
    return suite_of(await read_submission(task, submission, context))


async def texts_of(task: Task, tree: GitTree) -> tuple[dict[str, bytes], list[dict[str, bytes]]]:
    """The pristine files that any patch of the task changes, and the same files as each patch leaves them."""
    whole = [task.directory / f"{name}.patch" for name in ("removal", "garbage", "placebo")]
    patches = [path for path in whole if path.is_file()]
    patches += [path for name in ("probes", "twins") for path in sorted((task.directory / name).glob("*.patch"))]
    changed = [*(await changed_by_each(tree, {str(path): path for path in patches})).values()]
    entries = await tree.entries()
    pristine = await tree.read_all({path: entries[path] for path in sorted({p for files in changed for p in files})})
    return pristine, [{**pristine, **files} for files in changed]


def source_of(pristine: Mapping[str, bytes], family: Sequence[Mapping[str, bytes]], seed: int) -> VariantSource:
    lender = random.Random(seed).choice(family[1:] or family)
    return VariantSource(
        name=f"rewritten-{seed}",
        kind=VariantKind.REWRITTEN,
        disk=pristine,
        code=pristine,
        family={path: (text, *(files[path] for files in family)) for path, text in pristine.items()},
        inert={path: (family[0][path], lender[path]) for path in pristine},
        seed=seed,
    )


async def report(
    context: ArmContext, task: Task, name: str, suite: Suite, compiled: Iterable[CompiledVariant]
) -> int:
    arms = [(listed_arm(item.variant.name), item) for item in compiled]
    results = await ArmRunner(context, task).run_suite(suite, arms)
    green = passed(results[listed_arm(BASELINE)])
    failures = 0
    for key, arm in results.items():
        for test in sorted(green - passed(arm), key=str):
            failures += 1
            print(f"FAILED {task.id} {name} {key}: {test}", flush=True)
    print(
        f"{task.id} {name}: {len(green)} tests under {len(results) - 1} rewritings, {failures} failures", flush=True
    )
    return failures


if __name__ == "__main__":
    sys.exit(main())
