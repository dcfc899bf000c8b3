"""An attacker's tool: learns from many rewritings of known texts which arms must pass, and guesses for others.

It knows the catalogue (it can make as many rewritings as it likes) and sees the source that was compiled, which no
arm shows. Texts become sets of short runs of tokens, names of ours made alike, each with how often it is there; a
naive Bayes classifier learns from one half and guesses the other.

    python -m tests.support.token_classifier FILE...     each a JSON list of [must pass, text]
"""

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

Labelled = tuple[bool, str]
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|\w+|[^\s\w]+')
_LONGEST, _MOST = 3, 8
_CLEAR = 0.15
"""How much more often a run must be in one group to count: rarer ones are noise."""


def features(text: str, known: frozenset[str]) -> frozenset[tuple[str, ...]]:
    """Runs of up to three tokens, each with how often it is there; every name that isn't known is the same."""
    tokens = [token if token in known or not token[0].isalpha() else "*" for token in _TOKEN.findall(text)]
    runs = Counter(tuple(tokens[at : at + size]) for size in range(1, _LONGEST + 1) for at in range(len(tokens)))
    return frozenset((*run, str(seen)) for run, count in runs.items() for seen in range(1, min(count, _MOST) + 1))


def accuracy(samples: Sequence[Labelled], known: frozenset[str]) -> float:
    """The share of the second half that is guessed by what the first half shows, both groups weighing the same."""
    seen = [(label, features(text, known)) for label, text in samples]
    half = len(seen) // 2
    weights = _weights(seen[:half])
    base = sum(absent for _, absent in weights.values())
    right: dict[bool, list[bool]] = {True: [], False: []}
    for label, found in seen[half:]:
        here = found & weights.keys()
        score = base + sum(weights[run][0] - weights[run][1] for run in here)
        right[label].append((score > 0) == label)
    return sum(sum(guesses) / len(guesses) for guesses in right.values()) / len(right)


def _weights(seen: Sequence[tuple[bool, frozenset[tuple[str, ...]]]]) -> dict[tuple[str, ...], tuple[float, float]]:
    """What it says for must-pass that a run is there, and that it isn't."""
    sizes = Counter(label for label, _ in seen)
    counts = {wanted: Counter(run for label, found in seen if label is wanted for run in found) for wanted in sizes}

    def rate(label: bool, run: tuple[str, ...]) -> float:
        return (counts[label][run] + 1) / (sizes[label] + 2)

    weights = {}
    for run in counts[True].keys() | counts[False].keys():
        passing, failing = rate(True, run), rate(False, run)
        if abs(passing - failing) > _CLEAR:
            weights[run] = (math.log(passing / failing), math.log((1 - passing) / (1 - failing)))
    return weights


def words_of(text: str) -> frozenset[str]:
    return frozenset(_TOKEN.findall(text))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        given = [(bool(label), str(text)) for label, text in json.loads(Path(name).read_text())]
        common = frozenset.intersection(*(words_of(text) for _, text in given))
        print(f"{name}: {len(given)} texts, {accuracy(given, common):.0%} guessed right")
