"""What TypeScript's functions become, as text. tests/docker/test_typescript_rewriting.py runs them."""

from random import Random

import pytest

from harness.judging.languages.composing import FEWEST, Names, compose
from harness.judging.languages.functions import Piece, functions_of, touched_functions
from harness.judging.languages.typescript.rewriting.catalogue import CATALOGUE, GRAMMAR, in_plain_form, running_text
from harness.judging.languages.variant_source import VariantSource
from harness.specs.variants import VariantKind
from tests.support.typescript_traps import TRAPS

PRISTINE = b"""import { log } from "./log";
export const LIMIT = 3;
function kept(a: number) { return a + 1; }
export function form<T>(issues: T[], mapper = (issue: any) => issue.message as T) {
  const found: T[] = [];
  for (const issue of issues) {
    if (found.length < LIMIT && issue !== null) { found.push(mapper(issue)); } else { log(`left ${issue}`); }
  }
  return found.length === 0 ? undefined : found;
}
class Shape { constructor(readonly a: number) { if (a === 1) { log("one"); } } area() { return this.a === 2; } }
"""
MUTANT = PRISTINE.replace(b"found.length < LIMIT", b"found.length <= LIMIT")


def variant(code: bytes, seed: int | None, family: tuple[bytes, ...] = (PRISTINE, MUTANT)) -> VariantSource:
    return VariantSource(
        name="one",
        kind=VariantKind.PROBE,
        disk={"a.ts": PRISTINE},
        code={"a.ts": code},
        family={"a.ts": family},
        inert={"a.ts": (PRISTINE, MUTANT)},
        seed=seed,
    )


def rewritten(seed: int | None, **more: tuple[bytes, ...]) -> bytes:
    return running_text(variant(PRISTINE, seed, **more), "a.ts")


def test_one_seed_gives_one_text_and_another_seed_another():
    assert rewritten(1) == rewritten(1) != rewritten(2)


def test_without_a_seed_the_text_is_as_it_was_written():
    assert rewritten(None) == PRISTINE


def test_only_what_some_variant_touches_is_rewritten():
    made, was = functions_of(GRAMMAR, rewritten(5)), functions_of(GRAMMAR, PRISTINE)
    changed = {name for name in was if made[name].node.text != was[name].node.text}
    assert changed == {"form"}
    assert rewritten(5, family=(PRISTINE,)) == PRISTINE


def test_name_parameters_and_types_of_a_rewritten_function_stay():
    head = b"export function form<T>(issues: T[], mapper = (issue: any) =>"
    assert all(head in rewritten(seed) for seed in range(10))


def test_a_constructor_is_left_as_it_is_and_a_method_is_not():
    other = PRISTINE.replace(b'log("one")', b'log("two")').replace(b"this.a === 2", b"this.a === 3")
    assert touched_functions(GRAMMAR, (PRISTINE, other)) == ["Shape.area"]


@pytest.mark.parametrize("name", sorted(TRAPS))
def test_a_function_has_room_for_the_fewest_rules(name: str):
    trap = TRAPS[name]
    text = in_plain_form(GRAMMAR, trap.text.encode(), [trap.name])
    piece = Piece.of(GRAMMAR, text, trap.name)
    names = Names(["some", "words"], [text], CATALOGUE.join, chance := Random(7))
    assert len(compose(GRAMMAR, CATALOGUE.rules, piece, FEWEST, names.fresh, chance).applied) == FEWEST


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("const f = (a) => { return a }", "const f = (a) => { return a; }"),
        ("const f = a => b => ({ a })", "const f = a => { return (b => { return (({ a })); }); }"),
        ("const f = () => { if (a) b()\n else if (c) d(); else e() }",
         "const f = () => { if (a) { b(); }\n else if (c) { d(); } else { e(); } }"),
        ("const f = () => { for (const a of b) while (c) d() }",
         "const f = () => { for (const a of b) { while (c) { d(); } } }"),
        ("const f = (a) => a && b!.c !== !d![0]!;", "const f = (a) => { return (a && b .c !== !d [0]); } ;"),
    ],
)  # fmt: skip
def test_the_form_that_rules_expect_has_blocks_and_semicolons(text: str, plain: str):
    assert in_plain_form(GRAMMAR, text.encode(), ["f"]).decode() == plain


def test_inert_code_is_not_what_runs_and_no_two_variants_hold_it_behind_the_same_condition():
    heads = set()
    for seed in range(12):
        body = functions_of(GRAMMAR, rewritten(seed))["form"].body.text or b""
        assert body.count(b".push") + body.count(b'["push"]') >= 3
        heads.add(next(line for line in body.splitlines() if line.startswith(b"if (")))
    assert len(heads) == 12
