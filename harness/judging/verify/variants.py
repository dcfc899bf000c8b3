"""The variants of one judging: what is on disk and what runs in each, before anything is compiled.

An arm shows a tree's text, and its own code runs whatever that text says. In both groups of arms the text is pristine
in some, other text of the same behaviour in some, and broken in the others: neither the text nor its agreement with
the running code tells must-pass arms from must-fail ones.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Protocol

from harness.judging.languages.registry import code_of, language_at, language_of
from harness.judging.languages.toolchain import Toolchain
from harness.judging.languages.variant_source import Code, Layout, OnDisk, VariantSource, lines_in_question
from harness.judging.verify.evidence import BASELINE, derived_seed
from harness.judging.verify.task_texts import Files, TaskTexts, read_texts
from harness.sandbox.git_tree import GitTree
from harness.specs.errors import UserError
from harness.specs.repo import Repo
from harness.specs.task import Probe, Task, Twin
from harness.specs.variants import VariantKind


@dataclass(frozen=True)
class Running:
    """The code that runs in a variant, before it is rewritten.

    `mutant` is the probe whose broken bodies stand beside it, or a kind of removal: a mutant's own, for others any.
    """

    name: str
    kind: VariantKind
    files: Files
    criterion: str = ""
    mutant: str = ""


def draw_disks(running: Sequence[Running], texts: TaskTexts, chance: Random) -> dict[str, Files]:
    """Return the text on disk for each of these variants, by name.

    Among must-pass variants every mutant's text lies at least once, and as far as there are variants for it an own
    text, another benign one and the pristine one; among must-fail ones each of these, and their own broken text.
    """
    good = [item for item in running if item.kind.behaves_like_baseline]
    bad = [item for item in running if not item.kind.behaves_like_baseline]
    disks = _must_pass(good, texts, chance)
    shares = _Shares.of(list(disks.values()), texts)
    return disks | _must_fail(bad, texts, shares, chance)


@dataclass(frozen=True)
class _Shares:
    """Shares of the must-pass variants: those with pristine text, and those with other text of the same behaviour."""

    pristine: float
    benign: float

    @classmethod
    def of(cls, disks: Sequence[Files], texts: TaskTexts) -> "_Shares":
        broken = sum(files in texts.mutants for files in disks)
        pristine = sum(files == texts.pristine for files in disks)
        return cls(pristine / len(disks), (len(disks) - broken - pristine) / len(disks))


def _must_pass(good: Sequence[Running], texts: TaskTexts, chance: Random) -> dict[str, Files]:
    waiting = list(good)
    chance.shuffle(waiting)
    with_own = next((item for item in waiting if item.files != texts.pristine), None)
    disks: dict[str, Files] = {}
    if with_own:
        waiting.remove(with_own)
        disks[with_own.name] = with_own.files
    wanted = [*texts.mutants, _benign(None, texts, chance), texts.pristine]
    for item in waiting[len(wanted) :]:
        wanted.append(chance.choice([texts.pristine, item.files, _benign(item, texts, chance)]))
    wanted = wanted[: len(waiting)]
    chance.shuffle(wanted)
    return disks | {item.name: files for item, files in zip(waiting, wanted, strict=True)}


def _must_fail(bad: Sequence[Running], texts: TaskTexts, shares: _Shares, chance: Random) -> dict[str, Files]:
    pristine = max(1, round(shares.pristine * len(bad)))
    benign = max(1, round(shares.benign * len(bad)))
    broken = max(2, len(bad) - pristine - benign)
    # The first ones are each of another sort: the fewer variants there are, the fewer sorts.
    sorts = ["pristine", "own", "foreign", "benign", *["pristine"] * (pristine - 1), *["benign"] * (benign - 1)]
    sorts += ["own", "foreign"] * ((broken - 1) // 2)
    sorts = sorts[: len(bad)]
    chance.shuffle(sorts)
    return {item.name: _of_sort(sort, item, texts, chance) for item, sort in zip(bad, sorts, strict=True)}


def _of_sort(sort: str, item: Running, texts: TaskTexts, chance: Random) -> Files:
    match sort:
        case "pristine":
            return texts.pristine
        case "own":
            return item.files
        case "benign":
            return _benign(item, texts, chance)
        case _:
            others = [files for files in texts.mutants if files != item.files]
            return chance.choice(others) if others else item.files


def _benign(item: Running | None, texts: TaskTexts, chance: Random) -> Files:
    """Return a text that behaves as the pristine one, and is neither that nor the variant's own."""
    own = item.files if item else texts.pristine
    return chance.choice([files for files in (*texts.benign, texts.commented) if files != own])


def laid(code_paths: Mapping[str, bool], disk: Files, running: Files) -> dict[str, bytes]:
    """Return what lies on disk: data files have no split into text and code, they are what they are on disk."""
    return {path: disk[path] if is_code else running[path] for path, is_code in code_paths.items()}


FEWEST_REWRITTEN, MORE_REWRITTEN = 4, 2
"""The fewest rewritten variants, and how many more there may be by chance."""
OF_A_REMOVAL = 2
"""Variants of each kind of removal; a listed test must fail in all of one kind."""


class VariantPlanner(Protocol):
    """A function that plans the variants of one judging; `plan_variants` is for code in the task's own tree."""

    async def __call__(
        self, task: Task, tree: GitTree, toolchain: Toolchain, code_seed: int, every_twin: bool = False, /
    ) -> list[VariantSource]:
        """Return every variant, baseline first; the same seed gives the same. Raises UserError."""
        ...


async def plan_variants(
    task: Task, tree: GitTree, toolchain: Toolchain, code_seed: int, every_twin: bool = False
) -> list[VariantSource]:
    """Return every variant of one judging, baseline first.

    Args:
        task: Its patches make the variants.
        tree: The task's.
        toolchain: Says whether text on disk and code that runs can differ.
        code_seed: The same seed gives the same variants.
        every_twin: Take all twins instead of drawing as many as there are probes.

    Raises:
        UserError: A patch of the task doesn't apply.
    """
    return draw_variants(task, await read_texts(task, tree), toolchain.separates, code_seed, every_twin)


def draw_variants(
    task: Task, texts: TaskTexts, separates: bool, code_seed: int, every_twin: bool = False
) -> list[VariantSource]:
    """Return every variant of one judging, baseline first, from the texts of the task. Pure.

    `separates` says whether text on disk and code that runs can differ; for the rest see `plan_variants`.
    """
    running = list(_running(task, texts, every_twin, Random(derived_seed(code_seed, "variants"))))
    baseline = VariantSource(BASELINE, VariantKind.BASELINE, texts.pristine, texts.pristine, family=texts.family)
    if not separates:
        return [baseline, *_on_disk(running, texts, code_seed)]
    return [baseline, *_apart(running, texts, language_of(task.repo).code, code_seed)]


def drawn_again(source: VariantSource, repetition: int) -> VariantSource:
    """Return the same variant for another look, rewritten in another way."""
    if source.seed is None:
        return source
    seed = derived_seed(source.seed, "again", repetition)
    others = [layout for layout in Layout if layout is not source.layout]
    return replace(source, seed=seed, layout=Random(seed).choice(others))


def rewritten_on_disk(source: VariantSource, repo: Repo) -> VariantSource:
    """Return a variant whose text runs as it is: that text itself is written anew, by the variant's seed.

    Raises:
        UserError: Its code must differ from the baseline's and can't: it would show nothing.
    """
    if source.seed is None:
        return source
    written, files = dict(source.disk), dict(source.disk)
    for path, text in source.disk.items():
        family = source.family[path]
        if len(set(family)) > 1 and language_at(path):
            code = code_of(repo, path)
            item = OnDisk(path, text, family, source.layout, source.commented)
            written[path] = files[path] = code.write(item, Random(derived_seed(source.seed, path)))
            if source.commented:
                files[path] = code.commented(files[path], lines_in_question(family))
    if source.kind is VariantKind.REWRITTEN and written == source.disk:
        words = "no function that the removal touches can be rewritten, so no arm would differ from the baseline"
        raise UserError(f"{repo.name}: {', '.join(sorted(files))}: {words}")
    return replace(source, disk=files, code=files)


def _running(task: Task, texts: TaskTexts, every_twin: bool, chance: Random) -> Iterator[Running]:
    twins = task.twins if every_twin else _drawn_twins(task.probes, task.twins, chance)
    mutants = [*map(str, texts.removals), *texts.probes]
    beside = _mutants_beside(task.probes, twins, mutants)
    rewritten = FEWEST_REWRITTEN + chance.randint(0, MORE_REWRITTEN) + max(0, len(task.probes) - len(twins))
    for number in range(1, rewritten + 1):
        mutant = next(beside, None) or chance.choice(mutants)
        yield Running(f"rewritten-{number}", VariantKind.REWRITTEN, texts.pristine, mutant=mutant)
    for twin in twins:
        matched = [probe.variant for probe in task.probes if probe.name == twin.probe]
        mutant = chance.choice(matched or mutants)
        yield Running(twin.variant, VariantKind.TWIN, texts.twins[twin.variant], mutant=mutant)
    if texts.placebo is not None:
        mutant = chance.choice(mutants)
        yield Running("placebo-authored", VariantKind.PLACEBO_AUTHORED, texts.placebo, mutant=mutant)
    for kind, files in texts.removals.items():
        for number in range(1, OF_A_REMOVAL + 1):
            yield Running(f"{kind}-{number}", kind, files, mutant=str(kind))
    for probe in task.probes:
        forms = [texts.probes[probe.variant], texts.on_placebo.get(probe.variant, texts.probes[probe.variant])]
        yield Running(probe.variant, VariantKind.PROBE, chance.choice(forms), probe.criterion, probe.variant)


def _mutants_beside(probes: Sequence[Probe], twins: Sequence[Twin], mutants: Sequence[str]) -> Iterator[str]:
    """Yield the mutants that no twin stands for: each of them lies beside right code once at least."""
    matched = {twin.probe for twin in twins}
    alone = {probe.variant for probe in probes if probe.name not in matched}
    return (name for name in mutants if not name.startswith("probe-") or name in alone)


def _drawn_twins(probes: Sequence[Probe], twins: Sequence[Twin], chance: Random) -> list[Twin]:
    """Draw as many twins as probes: one for each probe, and where probes have none, others in their place."""
    drawn = [chance.choice(mine) for probe in probes if (mine := [t for t in twins if t.probe == probe.name])]
    others = [twin for twin in twins if twin not in drawn]
    return [*drawn, *chance.sample(others, min(len(others), max(0, len(probes) - len(drawn))))]


def _apart(running: Sequence[Running], texts: TaskTexts, code: Code, code_seed: int) -> Iterator[VariantSource]:
    """Yield text on disk and what runs, each drawn without the other."""
    disks = draw_disks(running, texts, Random(derived_seed(code_seed, "disks")))
    is_code = {path: code.is_code(path) for path in texts.pristine}
    for item in running:
        inert = _inert(item, texts, Random(derived_seed(code_seed, "inert", item.name)))
        yield VariantSource(
            item.name,
            item.kind,
            laid(is_code, disks[item.name], item.files),
            item.files,
            item.criterion,
            family=texts.family,
            inert={path: tuple(files[path] for files in inert) for path in is_code},
            seed=derived_seed(code_seed, "rewriting", item.name),
        )


def _inert(item: Running, texts: TaskTexts, chance: Random) -> list[Files]:
    """Draw three texts whose bodies never run: with the running one, two are right and two are one mutant's.

    So it is in every arm. Whoever counts what right code has, or wakes the bodies and has them vote, finds as much on
    either side; and where a twin runs there is nothing that isn't there where its probe does.
    """
    right = [texts.pristine, *texts.benign]
    broken = _forms(item.mutant, texts)
    if item.kind.behaves_like_baseline:
        lent = [chance.choice([item.files, chance.choice(right)]), chance.choice(broken), chance.choice(broken)]
    else:
        lent = [chance.choice(right), chance.choice(right), chance.choice(broken)]
    chance.shuffle(lent)
    return lent


def _forms(mutant: str, texts: TaskTexts) -> list[Files]:
    """Return a mutant's texts: a probe's upon pristine code, and upon the placebo where there is one."""
    if mutant in texts.probes:
        return [texts.probes[mutant], texts.on_placebo.get(mutant, texts.probes[mutant])]
    return [texts.removals[VariantKind(mutant)]]


_OF_MUST_PASS = (
    (Layout.COMPACT, False), (Layout.SPACED, False), (Layout.SPACED, True), (Layout.PLAIN, True),
)  # fmt: skip
_OF_MUST_FAIL = ((Layout.COMPACT, False), (Layout.SPACED, False)), ((Layout.PLAIN, True), (Layout.SPACED, True))


def _on_disk(running: Sequence[Running], texts: TaskTexts, code_seed: int) -> Iterator[VariantSource]:
    """Yield what is on disk runs. What can be seen of a text without working out what it does, both groups have.

    Of the must-pass variants two at least have none of the lines in question as they were, and two have all of them,
    the removal's too; of each kind of removal one has neither and one has all.
    """
    chance = Random(derived_seed(code_seed, "layouts"))
    layouts: dict[VariantKind, Iterator[tuple[Layout, bool]]] = {}
    for item in running:
        if item.kind not in layouts:
            wanted = list(map(chance.choice, _OF_MUST_FAIL)) if item.kind.removes else _OF_MUST_PASS
            layouts[item.kind] = _drawn(wanted, chance)
        layout, commented = next(layouts[item.kind])
        seed = derived_seed(code_seed, "rewriting", item.name)
        yield VariantSource(
            item.name,
            item.kind,
            item.files,
            item.files,
            item.criterion,
            family=texts.family,
            seed=seed,
            layout=layout,
            commented=commented,
        )


def _drawn(first: Sequence[tuple[Layout, bool]], chance: Random) -> Iterator[tuple[Layout, bool]]:
    """Yield each of these, in any order, then any of all."""
    yield from chance.sample(list(first), len(first))
    while True:
        yield chance.choice(list(Layout)), chance.random() < 0.5
