"""Go's test binaries: many variants in one container, and each by itself where one came to a limit."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness.judging.languages.go.toolchain import (
    AT_ONCE,
    SECONDS_EACH,
    VARIANTS,
    Package,
    PreparedVariant,
    build_binaries,
)
from harness.judging.languages.toolchain import JobContext
from harness.sandbox.archives import MAX_OUTPUTS_BYTES
from harness.sandbox.protocol import Image, Job, JobResult, LimitReached
from harness.specs.variants import Variant, VariantKind

PACKAGE = Package("x", {"x/x_test.go": b"package x"}, ("x/old_test.go",))
NOT_BUILT = "its package's tests do not compile"


@dataclass
class Builder:
    """Stands for the engine; `answer` says what a job of these texts leaves."""

    answer: Callable[[list[str]], dict[str, bytes] | LimitReached]
    timed_out: Callable[[list[str]], bool] = lambda _: False
    jobs: list[Job] = field(default_factory=list)

    async def run_job(self, image, job, options, labels):
        self.jobs.append(job)
        texts = [file.data.decode() for file in sorted(job.files) if "/code/" in file.path]
        outputs = self.answer(texts)
        if isinstance(outputs, LimitReached):
            raise outputs
        return JobResult(0, self.timed_out(texts), False, b"", outputs, True, 1.0)


def all_built(texts: list[str]) -> dict[str, bytes]:
    return {f"{number:04d}.gz": f"binary of {text}".encode() for number, text in enumerate(texts)}


def prepared(name: str, **data: bytes) -> PreparedVariant:
    source = {"x/x.go": b"", **data}
    return PreparedVariant(Variant(name, VariantKind.PROBE, source), (), (), running={"x/x.go": name.encode()})


async def built(builder: Builder, *variants: PreparedVariant) -> list[tuple[str, str]]:
    site = JobContext(builder, Image("tag", "digest", "/app", Path()), {})
    return [(item.data.decode(), item.fault) for item in await build_binaries(site, variants, PACKAGE)]


async def test_one_container_builds_some_and_each_variant_gets_its_own():
    builder = Builder(all_built)
    names = [f"v{number}" for number in range(AT_ONCE + 3)]
    assert await built(builder, *map(prepared, names)) == [(f"binary of {name}", "") for name in names]
    assert [job.seconds / SECONDS_EACH for job in builder.jobs] == [1, AT_ONCE, 2]
    assert builder.jobs[0].argv[-4:] == ("suite", VARIANTS, "x", "x/old_test.go")
    assert [file.data for file in builder.jobs[0].files if file.path == "/app/x/x_test.go"] == [b"package x"]


async def test_files_that_are_not_compiled_are_laid_for_their_variant_only():
    builder = Builder(all_built)
    await built(builder, prepared("a"), prepared("b", **{"x/words.txt": b"of b"}), prepared("c"))
    laid = [[file.data for file in job.files if file.path == "/app/x/words.txt"] for job in builder.jobs]
    assert laid == [[b"of b"], [], []]


async def test_a_variant_that_does_not_compile_takes_none_with_it_and_is_not_tried_again():
    builder = Builder(lambda texts: {name: data for name, data in all_built(texts).items() if b"bad" not in data})
    assert await built(builder, *map(prepared, ["a", "bad", "c"])) == [
        ("binary of a", ""), ("", NOT_BUILT), ("binary of c", ""),
    ]  # fmt: skip
    assert len(builder.jobs) == 2


async def test_large_binaries_are_built_by_fewer_at_once():
    size = MAX_OUTPUTS_BYTES // 3

    def large(texts: list[str]) -> dict[str, bytes]:
        return {name: data.ljust(size, b".") for name, data in all_built(texts).items()}

    builder = Builder(large)
    assert [fault for _, fault in await built(builder, *map(prepared, "abcde"))] == [""] * 5
    assert [job.seconds / SECONDS_EACH for job in builder.jobs] == [1, 2, 2]


@pytest.mark.parametrize("limit", ["time", "disk"])
@pytest.mark.parametrize("slow", ["a", "c", "z"])
async def test_nothing_is_built_twice_where_a_container_came_to_a_limit(limit: str, slow: str):
    def answer(texts: list[str]) -> dict[str, bytes] | LimitReached:
        return (
            LimitReached("disk", "more than 1 MiB written") if limit == "disk" and slow in texts else all_built(texts)
        )

    builder = Builder(answer, timed_out=lambda texts: limit == "time" and slow in texts)
    names = [*"abcdefghijklmnopqrstuvwxyz"]
    fault = f"building its package takes more {limit} than its container has"
    assert await built(builder, *map(prepared, names)) == [("", fault)] * len(names)
    seen = [file.data for job in builder.jobs for file in job.files if "/code/" in file.path]
    assert len(seen) == len(set(seen))
    assert len(builder.jobs) == {"a": 1, "c": 2, "z": 5}[slow]
