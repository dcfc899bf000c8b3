"""C functions rewritten by seed: rule by rule the same behaviour in other machine code."""

from collections.abc import Mapping
from random import Random

import pytest

from harness.judging.languages.c.catalogue import CATALOGUE, GRAMMAR, running_text
from harness.judging.languages.c.facts import may_change
from harness.judging.languages.composing import Names, Rule, compose, snake_case
from harness.judging.languages.functions import Piece, functions_of
from harness.judging.languages.variant_source import VariantSource
from harness.specs.variants import VariantKind
from tests.docker.conftest import Run
from tests.support.c_samples import DRIVER, SAMPLE, UNTOUCHED

pytestmark = [pytest.mark.docker, pytest.mark.long]
REPO = "jansson"
SEEDS = 12
# What each text prints, and what its functions are compiled to; then the text's name.
EACH = """\
cd rewriting
for text in *.c; do
    gcc -O1 -w -c -o object.o "$text" || { echo "$text does not compile"; continue; }
    gcc -o program object.o || { echo "$text does not link"; continue; }
    printed=$(timeout 10 ./program | sha256sum)
    objcopy -O binary -j .text object.o code
    echo "$text ${printed%% *} $(sha256sum <code | cut -c1-64)"
done
"""


def by_one_rule(rule: Rule, seed: int) -> tuple[bytes, int]:
    """The sample with one rule applied in all of its functions, and how often."""
    text, often = SAMPLE, 0
    for name, function in functions_of(GRAMMAR, SAMPLE).items():
        if may_change(function):
            names = Names(
                ["value", "kind", "total", "point", "length", "result", "text"], [text], snake_case, Random(seed)
            )
            made = compose(GRAMMAR, [rule], Piece.of(GRAMMAR, text, name), 12, names.fresh, Random(seed))
            text, often = made.piece.whole, often + len(made.applied)
    return text, often


def by_all_rules(seed: int) -> bytes:
    other = SAMPLE.replace(b"amount > 4", b"amount > 5").replace(b"int result = 0;", b"int result = 1;")
    code = {"a.c": SAMPLE}
    family, inert = {"a.c": (SAMPLE, b"")}, {"a.c": (SAMPLE, other)}
    return running_text(
        VariantSource("x", VariantKind.REWRITTEN, code, code, family=family, inert=inert, seed=seed), "a.c"
    )


@pytest.fixture(scope="module")
def results(run: Run) -> Mapping[str, tuple[str, str]]:
    """What each text printed and what it was compiled to."""
    texts = {f"rule-{number}.c": by_one_rule(rule, 5)[0] for number, rule in enumerate(CATALOGUE.rules)}
    texts |= {f"seed-{seed}.c": by_all_rules(seed) for seed in range(SEEDS)}
    texts["pristine.c"] = SAMPLE
    result = run(EACH, {f"rewriting/{name}": text + DRIVER for name, text in texts.items()})
    lines = [line.split() for line in result.log.decode().splitlines()]
    return {line[0]: (line[1], line[2]) for line in lines}


@pytest.mark.parametrize("rule", CATALOGUE.rules, ids=lambda rule: rule.name)
def test_each_rule_finds_a_place_in_the_sample(rule: Rule):
    assert by_one_rule(rule, 5)[1] > 0


@pytest.mark.parametrize("number", range(len(CATALOGUE.rules)), ids=[rule.name for rule in CATALOGUE.rules])
def test_each_rule_alone_gives_other_machine_code_that_does_the_same(
    results: Mapping[str, tuple[str, str]], number: int
):
    printed, code = results[f"rule-{number}.c"]
    assert printed == results["pristine.c"][0]
    assert code != results["pristine.c"][1]


def test_whatever_is_drawn_behaviour_stays_and_no_two_seeds_give_the_same_code(
    results: Mapping[str, tuple[str, str]],
):
    drawn = [results[f"seed-{seed}.c"] for seed in range(SEEDS)]
    assert {printed for printed, _ in drawn} == {results["pristine.c"][0]}
    assert len({code for _, code in drawn} | {results["pristine.c"][1]}) == SEEDS + 1


@pytest.mark.parametrize("name", UNTOUCHED)
def test_a_function_that_depends_on_its_frame_stays_as_it_is(name: str):
    before, after = (functions_of(GRAMMAR, text)[name].node.text for text in (SAMPLE, by_all_rules(3)))
    assert before == after
