"""One variant of a task before anything is compiled."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.languages.on_disk.written import Layout
from harness.specs.variants import VariantKind


@dataclass(frozen=True)
class VariantSource:
    """`disk` is the text that lies in the tree, `code` the text that what runs is compiled from.

    Both have every path that any variant of the task touches. `family` has, for each path, every text that any
    variant of the task runs. A function is touched where its text isn't the same in all of them; functions are told
    by their qualified name, and one within another belongs to the outermost one that has a name.

    With a `seed` every touched function of `code` is compiled from other text of the same behaviour: 25 to 80 rules
    of the language's catalogue, drawn by the seed, and the bodies of `inert` (for each path the texts whose functions
    of the same name lend theirs) kept where they never run, behind marks that are drawn too. All files go through one
    printer. The same source and seed give the same code. Without a seed `code` is compiled as it is.

    Where the text on disk is what runs, `layout` and `commented` say how it is written: see `OnDisk`.
    """

    name: str
    kind: VariantKind
    disk: Mapping[str, bytes]
    code: Mapping[str, bytes]
    criterion: str = ""
    family: Mapping[str, tuple[bytes, ...]] = field(default_factory=dict)
    inert: Mapping[str, tuple[bytes, ...]] = field(default_factory=dict)
    seed: int | None = None
    layout: Layout = Layout.PLAIN
    commented: bool = False
