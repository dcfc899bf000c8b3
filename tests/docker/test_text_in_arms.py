"""Upstream's own code, every function of it written anew where the text on disk is what runs: its suites pass."""

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from harness.judging.languages.c.catalogue import GRAMMAR as C
from harness.judging.languages.functions import Grammar
from harness.judging.languages.go.language import ON_DISK as GO
from harness.judging.languages.registry import LANGUAGES, language_at
from harness.judging.languages.typescript.rewriting.catalogue import GRAMMAR as TYPESCRIPT
from harness.judging.languages.variant_source import Layout
from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.task_images import repo_image
from harness.sandbox.options import repo_options
from harness.sandbox.protocol import Job, PlacedFile
from harness.specs.catalog import Catalog
from harness.specs.repo import matches
from harness.tracks.registry import choose_engine
from tests.support.whole_rewriting import written_whole

pytestmark = [pytest.mark.docker, pytest.mark.long]


@dataclass(frozen=True)
class Whole:
    """Which of a repository's files are rewritten, and what is run then."""

    repo: str
    grammar: Grammar | None
    begin: str
    command: str
    fewest: int


WHOLE = (
    Whole(
        "aiosmtpd",
        None,
        "aiosmtpd/",
        "run_tests aiosmtpd/tests/test_smtp.py aiosmtpd/tests/test_proxyprotocol.py",
        10,
    ),
    Whole(
        "restic",
        GO.grammar,
        "internal/",
        "go build ./internal/... && run_tests internal/options/options_test.go",
        130,
    ),
    Whole("jansson", C, "src/", "run_tests", 12),
    Whole(
        "zod",
        TYPESCRIPT,
        "src/v4/",
        "run_tests src/v4/classic/tests/union.test.ts src/v4/classic/tests/codec.test.ts",
        90,
    ),
)


async def tree_of(repo: str) -> Mapping[str, bytes]:
    tree = GitTree((await repo_image(Catalog().repo(repo))).tree)
    return await tree.read_all(await tree.entries())


@pytest.mark.parametrize(
    ("whole", "layout"), zip(WHOLE, [Layout.COMPACT, Layout.SPACED] * 2, strict=True), ids=lambda item: str(item)[:12]
)
async def test_upstreams_suite_passes_on_code_of_which_every_function_is_written_anew(whole: Whole, layout: Layout):
    repo = Catalog().repo(whole.repo)
    language = LANGUAGES.get(repo.language)
    files = {
        path: written_whole(language, whole.grammar, path, text, layout)
        for path, text in (await tree_of(whole.repo)).items()
        if path.startswith(whole.begin) and language_at(path) is language and not matches(path, repo.test_paths)
    }
    assert len(files) > whole.fewest
    job = Job(
        ("bash", "-c", whole.command),
        tuple(PlacedFile(f"{repo.workdir}/{path}", text) for path, text in files.items()),
    )
    engine = choose_engine("docker")
    try:
        done = await engine.run_job(
            await repo_image(repo), job, repo_options(repo), {"testwright.run": "text-on-disk"}
        )
    finally:
        await engine.close()
    assert done.exit_status == 0, done.log.decode()[-3000:]
