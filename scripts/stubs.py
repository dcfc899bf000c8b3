"""Stubs 200 functions drawn over the trees of all repositories, compiles each and writes docs/stubs.md.

usage: stubs.py [REPO...]     with names: those only, printed and not written
"""

import asyncio
import sys
from collections import Counter
from pathlib import Path
from uuid import uuid4

from harness.authoring.task_stub import StubSample, rate, sample_stubs
from harness.runs.engine_session import engine_session
from harness.specs.catalog import Catalog

PAGE = Path(__file__).parent.parent / "docs" / "stubs.md"
FUNCTIONS, SEED, LEAST = 200, 15, 0.95


async def main(names: list[str]) -> int:
    catalog = Catalog()
    every = [name for name in catalog.names("repos") if catalog.repo(name).test_command]
    chosen = names or every
    samples = []
    async with engine_session("docker", uuid4().hex) as session:
        left = FUNCTIONS
        for number, name in enumerate(chosen):
            share = -(-left // (len(chosen) - number)) if not names else FUNCTIONS // len(every)
            samples.append(await sample_stubs(session, catalog.repo(name), share, SEED))
            left -= samples[-1].functions
            print(f"{name}: {samples[-1].compiling} of {samples[-1].stubs} compile", file=sys.stderr, flush=True)
    page = "\n".join(page_lines(samples)) + "\n"
    if names:
        print(page)
    else:
        PAGE.write_text(page)
    return 0 if rate(samples) >= LEAST else 1


def page_lines(samples: list[StubSample]) -> list[str]:
    functions = sum(each.functions for each in samples)
    lines = [
        "# Stubs that compile",
        "",
        f"Made by `make stubs`: {functions} functions drawn with the seed {SEED}, evenly over the repositories",
        "(one has fewer: the next make up for it), tests left out. Each is stubbed by itself in both ways",
        "([mutants.md](mutants.md#stubs)) and compiled in the repository's image. No stub is mended by hand.",
        "What a repository's own build leaves out (in Go files of other systems, in C examples) counts as compiling.",
        "",
        "| repository | functions | refused | stubs | compile at the first try |",
        "|---|---|---|---|---|",
    ]
    for each in samples:
        row = (each.repo, each.functions, len(each.refused), each.stubs, each.compiling)
        lines.append(f"| {' | '.join(map(str, row))} |")
    lines += ["", f"{rate(samples):.1%} of the stubs compile.", "", "Refused, and why:", ""]
    reasons = Counter(reason.rpartition("can't be stubbed: ")[2] for each in samples for reason in each.refused)
    lines += [f"- {count} times: {reason}" for reason, count in reasons.most_common()]
    broken = [words for each in samples for words in each.broken]
    return [*lines, *(["", "Not compiling:", ""] if broken else []), *(f"- `{words}`" for words in broken)]


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
