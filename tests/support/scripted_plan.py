"""The variants of a small task as a judging plans them, for an engine that knows them by their names alone."""

from harness.judging.languages.variant_source import VariantSource
from harness.specs.variants import VariantKind

KINDS = {
    "baseline": VariantKind.BASELINE,
    **{f"rewritten-{number}": VariantKind.REWRITTEN for number in range(1, 5)},
    "twin-1.1": VariantKind.TWIN,
    "placebo-authored": VariantKind.PLACEBO_AUTHORED,
    "removal-1": VariantKind.REMOVAL,
    "removal-2": VariantKind.REMOVAL,
    "garbage-1": VariantKind.GARBAGE,
    "garbage-2": VariantKind.GARBAGE,
    "probe-1.1": VariantKind.PROBE,
}
MUTANTS = tuple(name for name, kind in KINDS.items() if not kind.behaves_like_baseline)


def sources(kinds: dict[str, VariantKind] = KINDS) -> list[VariantSource]:
    """Variants without any text; all but the baseline have a seed."""
    return [
        VariantSource(name, kind, {}, {}, seed=None if kind is VariantKind.BASELINE else number)
        for number, (name, kind) in enumerate(kinds.items())
    ]
