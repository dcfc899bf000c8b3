"""Whether changed texts compile, each by itself, in one container where no test ever runs."""

from collections.abc import Mapping, Sequence
from importlib import resources

from harness.languages.building import run_build
from harness.languages.toolchain import BuildContext
from harness.sandbox.protocol import Job, Limits, PlacedFile, SandboxOptions

Files = Mapping[str, bytes]
CHECK = (resources.files("harness.languages") / "in_container/compile_each.sh").read_text()
AT_ONCE = 50
"""Variants of one container."""
_VARIANTS = "/tmp/variants"
_OPTIONS = SandboxOptions(Limits(memory_mb=3072, disk_mb=4096))
_MOST_WORDS = 300


async def compile_each(context: BuildContext, command: str, variants: Sequence[Files]) -> list[str]:
    """What the compiler says of each variant in one line, in their order; empty for one that compiles.

    A variant is the files that it changes; `command` is a shell command that compiles those which it is given, at
    the root of the work tree. Raises SandboxLost where a container was lost.
    """
    said: list[str] = []
    for first in range(0, len(variants), AT_ONCE):
        said += await _compile_some(context, command, variants[first : first + AT_ONCE])
    return said


async def _compile_some(context: BuildContext, command: str, variants: Sequence[Files]) -> list[str]:
    placed = [
        PlacedFile(f"{_VARIANTS}/{number:04d}/{path}", text)
        for number, files in enumerate(variants)
        for path, text in files.items()
    ]
    seconds = 60 + 30 * len(variants)
    job = Job(("bash", "-c", CHECK, "compile", _VARIANTS, command), tuple(placed), seconds=seconds)
    result = await run_build(context, job, _OPTIONS)
    return [_verdict(result.outputs, f"{number:04d}") for number in range(len(variants))]


def _verdict(outputs: Mapping[str, bytes], number: str) -> str:
    if f"{number}.compiles" in outputs:
        return ""
    lines = outputs.get(f"{number}.log", b"").decode(errors="replace").strip().splitlines()
    errors = [line for line in lines if "rror" in line] or [line for line in lines if not line.startswith("#")]
    return (errors[0] if errors else "the compiler ended without a word")[:_MOST_WORDS]
