"""Which text lies on disk in each arm: drawn independently of what runs there, alike in both groups of arms.

An arm shows a tree's text, and its own code runs whatever that text says. In both groups the text is pristine in some
arms, other text of the same behaviour in some, and broken in the others: neither the text nor its agreement with what
runs tells must-pass arms from must-fail ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from harness.specs.variants import VariantKind
from harness.verify.task_texts import Files, TaskTexts


@dataclass(frozen=True)
class Running:
    """What runs in a variant, before it is rewritten.

    `mutant` is the probe whose broken bodies stand beside it, or a kind of removal: a mutant's own, for others any.
    """

    name: str
    kind: VariantKind
    files: Files
    criterion: str = ""
    mutant: str = ""


def draw_disks(running: Sequence[Running], texts: TaskTexts, chance: Random) -> dict[str, Files]:
    """The text on disk for each of these variants, by name.

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
    """Of the must-pass variants: how many show pristine text, and how many other text that behaves the same."""

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
    """A text that behaves as the pristine one, and is neither that nor the variant's own."""
    own = item.files if item else texts.pristine
    return chance.choice([files for files in (*texts.benign, texts.commented) if files != own])


def laid(code_paths: Mapping[str, bool], disk: Files, running: Files) -> dict[str, bytes]:
    """What lies on disk: data files have no split into text and code, they are what they are on disk."""
    return {path: disk[path] if is_code else running[path] for path, is_code in code_paths.items()}
