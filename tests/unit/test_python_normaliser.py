"""The attacker's tool works: what it doesn't see through is the catalogue's merit, not a fault of the tool."""

import ast
from pathlib import Path

import pytest

from harness.judging.languages.python.in_container.composer import EVERY_RULE
from harness.judging.languages.python.in_container.functions import functions_of
from tests.support.python_normaliser import normalised
from tests.support.python_variants import variant

TEXT = (
    Path(__file__)
    .parents[2]
    .joinpath("harness", "judging", "languages", "python", "in_container", "functions.py")
    .read_text()
)
INVERTED = sorted(
    {
        "attribute_by_name", "identity_swapped", "choice_flipped", "arguments_starred", "keywords_packed", "boxed",
        "branches_swapped", "mutant_beside", "integer_unfolded", "text_unfolded", "constant_from_lambda",
    }
)  # fmt: skip


@pytest.fixture(scope="module")
def plain() -> dict[object, object]:
    """Each function, as the tool leaves it."""
    return {key: normalised(function) for key, function in functions_of(ast.parse(TEXT)).items()}  # type: ignore[arg-type]


@pytest.mark.long
@pytest.mark.parametrize("name", INVERTED)
def test_a_rule_that_the_tool_knows_is_turned_round(plain, name):
    """In every function; of a copied branch with a mutant in it, in two of five at least: some copies hide it."""
    rule = frozenset(rule for rule in EVERY_RULE if rule.__name__ == name)
    seen: list[bool] = []
    for seed in range(5):
        tree, applied = variant(TEXT, seed, rules=rule)
        assert sum(applied.values())
        seen += [normalised(function) == plain[key] for key, function in functions_of(tree).items()]  # type: ignore[arg-type]
    assert sum(seen) >= (0.4 if name == "mutant_beside" else 1) * len(seen)


def test_another_behaviour_is_never_taken_for_the_same(plain):
    for old, new in (("is not", "is"), ("> 1", "> 2"), ("return names", "return {}"), ("if not", "if")):
        for key, function in functions_of(ast.parse(TEXT.replace(old, new))).items():
            changed = ast.dump(function) != ast.dump(functions_of(ast.parse(TEXT))[key])
            assert (normalised(function) != plain[key]) == changed
