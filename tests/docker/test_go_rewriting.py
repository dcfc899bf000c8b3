"""Go functions rewritten by seed: rule by rule the same behaviour, for one seed the same text, all of it compiled."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from harness.judging.languages.go.toolchain import Request, Rewritten, rewrite_variants
from harness.judging.languages.toolchain import JobContext
from harness.judging.languages.variant_source import VariantSource
from harness.sandbox.protocol import Image
from harness.specs.variants import VariantKind
from harness.tracks.registry import choose_engine
from tests.docker.conftest import Run
from tests.support.go_samples import DRIVER, RULES, SAMPLE, SAMPLE_OTHER, SEEN

pytestmark = [pytest.mark.docker, pytest.mark.long]
REPO = "restic"
PATH = "internal/sample/sample.go"
FAMILY = (SAMPLE, SAMPLE_OTHER)


def rewritten(image: Image, requests: Sequence[Request]) -> list[Rewritten]:
    """In one container."""

    async def make() -> list[Rewritten]:
        engine = choose_engine("docker")
        try:
            return await rewrite_variants(
                JobContext(engine, image, {"testwright.run": "test-go-rewriting"}), requests
            )
        finally:
            await engine.close()

    return asyncio.run(make())


def sample(seed: int | None, inert: tuple[bytes, ...] = (), rules: tuple[str, ...] = ()) -> Request:
    texts = {PATH: SAMPLE}
    source = VariantSource("x", VariantKind.BASELINE, texts, texts, family={PATH: FAMILY}, seed=seed)
    return Request(replace(source, inert={PATH: inert}), texts, rules)


def behaviour(run: Run, texts: Sequence[bytes]) -> list[str]:
    """What each text's `Run` answers, in one process that holds all of them."""
    packages = {f"internal/all/v{number}/sample.go": text for number, text in enumerate(texts)}
    own = "github.com/restic/restic/internal/all"
    imports = "".join(f'v{number} "{own}/v{number}"\n' for number in range(len(texts)))
    calls = "".join(f"v{number}.Run, " for number in range(len(texts)))
    driver = DRIVER.replace("IMPORTS", imports).replace("CALLS", calls).encode()
    result = run("go run ./internal/all", {**packages, "internal/all/main.go": driver})
    assert result.exit_status == 0, result.log.decode()[-2000:]
    return result.log.decode().splitlines()


def same(lines: Sequence[str], least: int = 1000) -> None:
    assert len(lines[0]) > least
    for number, line in enumerate(lines):
        assert line == lines[0], f"text {number}"


def test_each_rule_alone_leaves_what_functions_do_as_it_was(run: Run, image: Image):
    requests = [sample(seed, rules=(rule,)) for rule in RULES for seed in range(3)]
    made = rewritten(image, requests)
    for request, variant in zip(requests, made, strict=True):
        assert tuple(variant.rules) == request.rules
        assert variant.texts[PATH] != SAMPLE
    same(behaviour(run, [SAMPLE, *(variant.texts[PATH] for variant in made)]))


def test_many_rules_together_with_bodies_that_never_run_leave_it_as_it_was(run: Run, image: Image):
    made = rewritten(image, [sample(seed, (SAMPLE_OTHER, SAMPLE_OTHER)) for seed in range(20)])
    assert all(sum(variant.rules.values()) >= 100 for variant in made)
    assert all(variant.lost_bodies == 0 for variant in made)
    applied = sum(sum(variant.rules.values()) for variant in made)
    assert sum(variant.dropped for variant in made) <= applied / 1000
    assert len({variant.texts[PATH] for variant in made}) == 20
    same(behaviour(run, [SAMPLE, *(variant.texts[PATH] for variant in made)]))


def test_what_else_honest_tests_may_see_stays_as_it_was(run: Run, image: Image):
    """Names of functions, frames above a callback, identity of errors, panics, types, nil slices, allocations."""
    other = b"package sample\n" + SEEN[SEEN.index(b"// Run ") :]
    texts = {PATH: SEEN}
    sources = [
        VariantSource("x", VariantKind.BASELINE, texts, texts, family={PATH: (SEEN, other)}, seed=seed)
        for seed in range(10)
    ]
    made = rewritten(image, [Request(source, texts) for source in sources])
    assert all(sum(variant.rules.values()) > 60 for variant in made)
    lines = behaviour(run, [SEEN, *(variant.texts[PATH] for variant in made)])
    assert "func1 Each Run" in lines[0]
    assert "runtime.boundsError" in lines[0]
    same(lines, 300)


def test_a_seed_gives_the_same_text_each_time_and_none_leaves_it_as_written(image: Image):
    first, again, other, plain = (made.texts[PATH] for made in rewritten(image, list(map(sample, (5, 5, 6, None)))))
    assert first == again != other
    assert plain == SAMPLE


def test_new_names_of_the_package_are_none_that_a_test_would_choose(image: Image):
    """A suite's own helper of that name would not compile beside the variant."""
    made = rewritten(image, [sample(seed, (SAMPLE_OTHER, SAMPLE_OTHER)) for seed in range(5)])
    for variant in made:
        new = names_of(variant.texts[PATH]) - names_of(SAMPLE) - names_of(SAMPLE_OTHER)
        assert len(new) > 10
        assert [name for name in new if not re.fullmatch(r"\w+[1-9][0-9]", name)] == []


def names_of(text: bytes) -> set[str]:
    return set(re.findall(r"^(?:func|var|const|type) (\w+)", text.decode(), re.M))


def test_what_no_variant_changes_is_left_alone(image: Image):
    (made,) = rewritten(image, [sample(1)])
    kept = SAMPLE[SAMPLE.index(b"// Run ") :]
    assert kept.strip() in made.texts[PATH]
    assert b"//go:noinline" in made.texts[PATH]


def test_the_tree_of_a_task_is_rewritten_whole(run: Run, image: Image, tree: Mapping[str, bytes]):
    """Every function of real packages; the compiler takes what the checker took."""
    paths = ["internal/filter/filter.go", "internal/options/options.go", "internal/restic/duration.go"]
    paths += ["internal/ui/table/table.go", "internal/textfile/read.go", "internal/restic/id.go"]

    texts = {path: tree[path] for path in paths}
    family = dict.fromkeys(paths, (b"package x\n",))
    source = VariantSource("x", VariantKind.BASELINE, texts, texts, family=family, seed=3)
    (made,) = rewritten(image, [Request(source, texts)])
    assert sum(made.rules.values()) > 500
    tests = "internal/filter/filter_test.go internal/options/options_test.go internal/ui/table/table_test.go"
    result = run(f"go build ./... && run_tests {tests}", made.texts)
    assert result.exit_status == 0, result.log.decode()[-2000:]
