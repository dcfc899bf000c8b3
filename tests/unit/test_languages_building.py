"""Variants that weren't built: what the compiler refuses is the task's fault, everything else the machine's."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from harness.judging.languages.registry import LANGUAGES
from harness.judging.languages.toolchain import JobContext
from harness.judging.languages.variant_source import VariantSource
from harness.sandbox.protocol import Image, JobResult, LimitReached
from harness.specs.errors import EndedFromOutside, SandboxLost, UserError
from harness.specs.variants import VariantKind

TEXTS = {
    "python": {"src/a.py": b"a = 1\n"},
    "go": {"a/a.go": b"package a\n"},
    "c": {"src/a.c": b"int a;\n"},
    "typescript": {"src/a.ts": b"export {};\n"},
}
ENDED = JobResult(0, False, False, b"", {}, True, 1.0)
SAID = replace(ENDED, exit_status=1, log=b"src/a: error: not the language\n")


@dataclass
class Ends:
    """An engine whose jobs end like this, one after the other."""

    ends: Iterator[JobResult | Exception]
    jobs: int = 0

    async def run_job(self, image, job, options, labels):
        self.jobs += 1
        end = next(self.ends)
        if isinstance(end, Exception):
            raise end
        return end


async def compile_in(language: str, *ends: JobResult | Exception) -> int:
    """How many jobs it took."""
    engine, texts = Ends(iter(ends)), TEXTS[language]
    source = VariantSource("removal", VariantKind.REMOVAL, texts, texts)
    context = JobContext(engine, Image("tag", "digest", "/app", Path()), {})
    await LANGUAGES.get(language).toolchain.compile(context, [source])
    return engine.jobs


@pytest.mark.parametrize("language", LANGUAGES.names)
async def test_what_the_compiler_refuses_is_said_in_its_own_words(language: str) -> None:
    with pytest.raises(UserError, match="of this task does not compile: src/a: error: not the language"):
        await compile_in(language, SAID)


@pytest.mark.parametrize("language", LANGUAGES.names)
@pytest.mark.parametrize(
    "end",
    [
        replace(ENDED, exit_status=137),
        replace(ENDED, exit_status=143, log=b"building\n"),
        replace(ENDED, exit_status=139),
        replace(ENDED, exit_status=137, out_of_memory=True),
        replace(ENDED, exit_status=124, timed_out=True, log=b"building\n"),
        replace(ENDED, exit_status=1),
        ENDED,
        EndedFromOutside("the container was killed"),
        SandboxLost("the container is gone"),
        LimitReached("disk", "the container filled its disk"),
    ],
    ids=str,
)
async def test_a_container_that_was_lost_is_never_a_word_of_the_compiler(language: str, end) -> None:
    with pytest.raises(SandboxLost) as caught:
        await compile_in(language, end, end)
    assert str(caught.value).strip(": ")


@pytest.mark.parametrize("language", LANGUAGES.names)
async def test_a_container_that_was_ended_from_outside_runs_a_second_time(language: str) -> None:
    with pytest.raises(UserError, match="does not compile"):
        await compile_in(language, EndedFromOutside("the container was stopped"), SAID)
    with pytest.raises(UserError, match="does not compile"):
        await compile_in(language, replace(ENDED, exit_status=137), SAID)


@pytest.mark.parametrize("language", LANGUAGES.names)
async def test_compiled_variants_that_a_job_cannot_hand_back_are_the_tasks_fault(language: str) -> None:
    with pytest.raises(UserError, match="larger than what a job may leave"):
        await compile_in(language, replace(ENDED, complete=False))
