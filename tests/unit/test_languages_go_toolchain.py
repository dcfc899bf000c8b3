"""Go variants as text, and what comes back from the container that compiles them."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from harness.judging.languages.go.toolchain import Request, rewrite_variants
from harness.judging.languages.registry import LANGUAGES
from harness.judging.languages.toolchain import JobContext
from harness.judging.languages.variant_source import VariantSource
from harness.sandbox.protocol import Image, Job, JobResult
from harness.specs.errors import UserError
from harness.specs.variants import VariantKind

PRISTINE = b"""\
package size

import (
	"fmt"
	"strings"
)

func Parse(s string) (int, error) {
	s = strings.TrimSpace(s)
loop:
	for {
		break loop
	}
	return len(s), fmt.Errorf("no %s", s)
}
"""
REMOVED = b"""\
package size

func Parse(s string) (int, error) {
	return 0, nil
}
"""
PATH = "internal/size/size.go"


def hidden() -> VariantSource:
    return VariantSource(
        *("removal-1", VariantKind.REMOVAL, {PATH: PRISTINE}, {PATH: REMOVED}),
    )


@dataclass
class Compiler:
    """Stands for the engine: keeps the job, and answers for every variant of it in the same way."""

    answer: dict[str, Any]
    jobs: list[Job] = field(default_factory=list)

    async def run_job(self, image, job, options, labels):
        self.jobs.append(job)
        answers = {item["name"]: self.answer for item in self.plan["variants"]}
        return JobResult(0, False, False, b"", {"rewritten.json": json.dumps(answers).encode()}, True, 1.0)

    @property
    def plan(self) -> dict[str, Any]:
        (text,) = (file.data for file in self.jobs[-1].files if file.path == "/tmp/plan.json")
        return json.loads(text)

    @property
    def texts(self) -> dict[str, bytes]:
        return {file.path.rpartition("/")[2]: file.data for file in self.jobs[-1].files if "/texts/" in file.path}


DONE = {"files": {PATH: "package size\n"}, "rules": {"extract": 2}, "dropped": 1, "lost_bodies": 0, "error": ""}


def context(compiler: Compiler) -> JobContext:
    return JobContext(compiler, Image("tag", "digest", "/go/src/x", Path()), {})


def test_go_files_are_compiled_and_others_are_not():
    code = LANGUAGES.get("go").code
    assert code.is_code("internal/size/size.go")
    assert not code.is_code("internal/size/testdata/size.txt")


def test_comments_stand_behind_the_code_and_are_no_directives():
    text = LANGUAGES.get("go").code.commented(b"package x\n", ["go:build never", ""])
    assert text == b"package x\n// go:build never\n// \n// \n"


async def test_each_text_is_handed_over_once_whatever_has_it():
    compiler = Compiler(DONE)
    source = replace(hidden(), family={PATH: (PRISTINE, REMOVED)}, inert={PATH: (PRISTINE,)}, seed=2**80)
    requests = [Request(source, {PATH: REMOVED}), Request(source, {PATH: PRISTINE})]
    (first, second) = await rewrite_variants(context(compiler), requests)
    assert first == second
    assert first.texts == {PATH: b"package size\n"}
    assert (first.rules, first.dropped) == ({"extract": 2}, 1)
    assert sorted(compiler.texts.values()) == sorted([PRISTINE, REMOVED])
    named = [item["files"][PATH] for item in compiler.plan["variants"]]
    assert [compiler.texts[item["code"]] for item in named] == [REMOVED, PRISTINE]
    assert [[compiler.texts[name] for name in item["family"]] for item in named] == [[PRISTINE, REMOVED]] * 2
    assert [[compiler.texts[name] for name in item["inert"]] for item in named] == [[PRISTINE]] * 2


async def test_seeds_of_any_size_become_numbers_that_go_can_hold_and_stay_different():
    compiler = Compiler(DONE)
    seeds = [None, 0, 1, -1, 2**63, 2**200, 2**200 + 1]
    requests = [Request(replace(hidden(), seed=seed), {PATH: REMOVED}) for seed in seeds]
    await rewrite_variants(context(compiler), requests)
    handed = [item["seed"] for item in compiler.plan["variants"]]
    assert handed[0] is None
    assert len(set(handed)) == len(seeds)
    assert all(0 <= seed < 2**63 for seed in handed[1:])


async def test_a_variant_that_does_not_compile_is_named_with_the_compilers_words():
    said = f"{PATH}:3:1: undefined: x\nmore"
    with pytest.raises(UserError, match=rf"variant removal-1 .*: {PATH}:3:1: undefined: x$"):
        await rewrite_variants(context(Compiler({**DONE, "error": said})), [Request(hidden(), {PATH: REMOVED})])
