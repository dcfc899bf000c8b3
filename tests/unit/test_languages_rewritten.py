"""Functions of braced languages, rewritten: which ones, by how many rules, and what stands beside their code."""

from dataclasses import replace
from random import Random

import pytest
import tree_sitter_c
from tree_sitter import Language, Node

from harness.judging.languages.c.catalogue import CATALOGUE as C
from harness.judging.languages.composing import Hidden, Names, Rule, Scene, camel_case, compose, condition, snake_case
from harness.judging.languages.found import parsed, text_of
from harness.judging.languages.functions import Edit, Function, Grammar, Piece, functions_of, touched_functions
from harness.judging.languages.rewritten import Catalogue, rewritten_text
from harness.judging.languages.variant_source import VariantSource
from harness.specs.variants import VariantKind

PRISTINE = b"""int kept(int amount) { return amount; }
int most(int left_amount, int right_amount)
{
    if (left_amount > right_amount) goto first;
    return right_amount;
first:
    return left_amount;
}
"""
MUTANT = PRISTINE.replace(b"left_amount > right_amount", b"left_amount < right_amount")


def declarator(function: Node) -> str:
    return text_of(function.child_by_field_name("declarator")).partition("(")[0]


def in_parentheses(node: Node, scene: Scene) -> list[Edit]:
    return [(node.start_byte, node.start_byte, b"("), (node.end_byte, node.end_byte, b")")]


def hide(function: Function, hidden: Hidden) -> list[Edit]:
    at = function.body.start_byte + 1
    return [(at, at, f"static volatile unsigned {hidden.name} = {hidden.value};".encode())]


GRAMMAR = Grammar(Language(tree_sitter_c.language()), frozenset({"function_definition"}), declarator)
PARENTHESES = Rule("parentheses", frozenset({"binary_expression", "parenthesized_expression"}), in_parentheses)
CATALOGUE = Catalogue(GRAMMAR, (PARENTHESES,), snake_case, hide=hide, labels=frozenset({"statement_identifier"}))


def variant(code: bytes, seed: int | None) -> VariantSource:
    return VariantSource(
        name="one",
        kind=VariantKind.PROBE,
        disk={"a.c": PRISTINE},
        code={"a.c": code},
        family={"a.c": (PRISTINE, MUTANT)},
        inert={"a.c": (PRISTINE, MUTANT)},
        seed=seed,
    )


def test_a_touched_function_is_one_whose_text_is_not_the_same_everywhere() -> None:
    assert touched_functions(GRAMMAR, (PRISTINE, MUTANT, PRISTINE)) == ["most"]
    assert touched_functions(GRAMMAR, (PRISTINE, PRISTINE)) == []


def test_a_function_that_one_text_lacks_is_touched() -> None:
    assert touched_functions(GRAMMAR, (PRISTINE, b"int kept(int amount) { return amount; }")) == ["most"]


def test_functions_of_one_name_are_told_apart_by_number() -> None:
    text = b"#ifdef A\nint f(void) { return 1; }\n#else\nint f(void) { return 2; }\n#endif\n"
    assert list(functions_of(GRAMMAR, text)) == ["f", "f#2"]


def test_as_many_rules_are_applied_as_were_asked_for_and_nothing_else_changes() -> None:
    made = compose(GRAMMAR, (PARENTHESES,), Piece.of(GRAMMAR, PRISTINE, "most"), 40, str, Random(1))
    assert made.applied == ("parentheses",) * 40
    assert made.piece.whole.count(b"(") == PRISTINE.count(b"(") + 40
    assert made.piece.whole.startswith(b"int kept(int amount) { return amount; }\n")


def test_a_rule_that_breaks_the_text_is_not_applied() -> None:
    breaking = Rule(
        "breaking", frozenset({"return_statement"}), lambda node, _: [(node.end_byte, node.end_byte, b")")]
    )
    made = compose(GRAMMAR, (breaking,), Piece.of(GRAMMAR, PRISTINE, "most"), 10, str, Random(1))
    assert made.applied == ()
    assert made.piece.whole == PRISTINE


def test_the_same_seed_gives_the_same_text_and_another_one_another() -> None:
    first, again, other = (rewritten_text(CATALOGUE, variant(PRISTINE, seed), "a.c") for seed in (1, 1, 2))
    assert first == again != other


def test_without_a_seed_the_text_is_as_it_is_written() -> None:
    assert rewritten_text(CATALOGUE, variant(MUTANT, None), "a.c") == MUTANT


@pytest.mark.parametrize("code", [PRISTINE, MUTANT], ids=["pristine", "mutant"])
def test_either_side_holds_the_bodies_of_both_and_the_same_number_of_them(code: bytes) -> None:
    made = rewritten_text(CATALOGUE, variant(code, 7), "a.c")
    assert made.count(b"return") == 1 + 3 * 2
    shares = made.count(b"left_amount > right_amount"), made.count(b"left_amount < right_amount")
    assert shares == ((2, 1) if code == PRISTINE else (1, 2))


def test_labels_of_inert_code_are_no_second_definitions() -> None:
    made = rewritten_text(CATALOGUE, variant(PRISTINE, 3), "a.c")
    labels = [text_of(node.child_by_field_name("label")) for node in _nodes(made) if node.type == "labeled_statement"]
    assert len(labels) == len(set(labels)) == 3


@pytest.mark.parametrize("holds", [True, False])
def test_a_condition_holds_or_does_not_whatever_is_drawn(holds: bool) -> None:
    chance = Random(5)
    for _ in range(2000):
        hidden = Hidden.drawn("value", chance)
        text = condition(hidden, chance, holds)
        assert eval(text, {}, {"value": hidden.value}) is holds, (text, hidden)


def test_no_two_dozen_conditions_are_alike() -> None:
    chance = Random(6)
    assert len({condition(Hidden.drawn("value", chance), chance, True) for _ in range(24)}) == 24


def test_names_are_of_the_function_s_words_and_new() -> None:
    names = Names(["most", "left_amount", "right_amount"], [b"left_right"], snake_case, Random(1))
    drawn = [names.fresh() for _ in range(40)]
    assert len(set(drawn)) == 40
    assert "left_right" not in drawn
    assert any({"most", "amount", "right"} & set(name.split("_")) for name in drawn)


def test_names_follow_the_way_of_their_language() -> None:
    assert camel_case(["left", "amount"]) == "leftAmount"
    assert snake_case(["left", "amount"]) == "left_amount"


def _nodes(text: bytes) -> list[Node]:
    return [inner for each in functions_of(GRAMMAR, text).values() for inner in _all(each.node)]


def _all(node: Node) -> list[Node]:
    return [node, *(inner for child in node.children for inner in _all(child))]


def beside_inert(pristine: bytes, other: bytes, *more: bytes) -> bytes:
    """The pristine text, rewritten, with what another one takes along for its bodies."""
    source = replace(
        variant(pristine, 1),
        disk={"a.c": pristine},
        family={"a.c": (pristine, other)},
        inert={"a.c": (other, *more)},
    )
    return rewritten_text(C, source, "a.c")


def test_what_inert_code_takes_along_may_call_what_is_defined_further_down() -> None:
    """A placebo's helper calls the function back, which it announces above: so must the file that it is lent to."""
    pristine = b"static int walk(int one) { return one ? one : 0; }\nint all(int one) { return walk(one); }\n"
    announced = b"static int walk(int one);\nstatic int next(int one) { return walk(one - 1); }\n"
    otherwise = announced + pristine.replace(b"? one :", b"? next(one) :")
    made = beside_inert(pristine, otherwise, pristine, otherwise)
    assert made.count(b"static int next(int one)") == 1
    assert made.index(b"static int walk(int one);") < made.index(b"static int next(int one)")


def test_what_inert_code_takes_along_stands_once_and_above_all_that_use_it() -> None:
    pristine = b"int last(int one) { return one; }\nint early(int one) { return one; }\n"
    garbage = b"static int any(void) { return 4; }\n" + pristine.replace(b"return one", b"return any()")
    made = beside_inert(pristine, garbage)
    assert made.count(b"static int any(void)") == 1
    assert all(made.index(b"static int any(void)") < made.index(head) for head in (b"int last(int", b"int early(int"))


def test_a_structure_that_inert_code_takes_along_is_whole_and_there_once() -> None:
    pristine = b"int last(int one) { return one; }\nint early(int one) { return one; }\n"
    taken = b"struct room { int left; };\nstatic int any(struct room *room) { return room->left; }\n"
    otherwise = taken + pristine.replace(b"return one", b"struct room room = {one}; return any(&room)")
    made = beside_inert(pristine, otherwise)
    assert made.count(b"struct room { int left; };") == made.count(b"struct room {") == 1
    assert not parsed(GRAMMAR.language, made).has_error


TWO = b"""#include <stdio.h>
int first(int amount) { return amount + 1; }
/* between */
int kept(int amount) { return amount * 4; }
int second(int amount) { return amount + 2; }
int last;
"""


@pytest.mark.parametrize("around", [(b"", b""), (b"#if 1\n", b"#endif\n")], ids=["each for itself", "in one piece"])
@pytest.mark.parametrize("seed", range(4))
def test_functions_are_rewritten_one_after_the_other_and_what_is_around_them_stays(
    around: tuple[bytes, bytes], seed: int
) -> None:
    text, other = (around[0] + each + around[1] for each in (TWO, TWO.replace(b"amount +", b"amount -")))
    family = {"a.c": (text, other)}
    made = rewritten_text(
        C,
        VariantSource("one", VariantKind.PROBE, {"a.c": text}, {"a.c": text}, family=family, inert=family, seed=seed),
        "a.c",
    )
    was, now = functions_of(C.grammar, text), functions_of(C.grammar, made)
    assert [name for name in was if was[name].node.text == now[name].node.text] == ["kept"]
    assert list(now)[-1] == "second"
    assert made.startswith(around[0] + b"#include <stdio.h>\n")
    assert made.endswith(b"\nint last;\n" + around[1])
    assert made.count(b"/* between */") == 1
    assert not now["second"].node.has_error
