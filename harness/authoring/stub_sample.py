"""How well stubs compile: functions drawn over a repository's tree, each stubbed by itself in both ways."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from harness.languages.compile_check import compile_each
from harness.languages.registry import language_of
from harness.languages.stubbing import CannotStub, StubKind
from harness.languages.toolchain import BuildContext
from harness.runs.engine_session import EngineSession
from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.task_images import repo_image
from harness.specs.errors import UserError
from harness.specs.globs import matches
from harness.specs.repo import Repo


@dataclass(frozen=True)
class StubSample:
    """`refused` are functions that can't be stubbed, with the reason; `broken` stubs that the compiler refuses."""

    repo: str
    functions: int
    stubs: int
    refused: tuple[str, ...]
    broken: tuple[str, ...]

    @property
    def compiling(self) -> int:
        return self.stubs - len(self.broken)


async def sample_stubs(session: EngineSession, repo: Repo, count: int, seed: int) -> StubSample:
    """Stub `count` functions of a repository's code, tests left out. Raises UserError, SandboxLost."""
    language = language_of(repo)
    stubs = language.stubs
    if stubs is None:
        raise UserError(f"{repo.name}: nothing makes stubs in {repo.language}")
    image = await repo_image(repo)
    tree = GitTree(image.tree)
    entries = await tree.entries()
    code = {path: entry for path, entry in entries.items()
            if language.code.is_code(path) and not matches(path, repo.test_paths)}  # fmt: skip
    texts = await tree.read_all(code)
    known = sorted((path, name) for path, text in texts.items() for name in stubs.symbols(text, path))
    drawn = Random(seed).sample(known, min(count, len(known)))
    made: list[tuple[str, dict[str, bytes]]] = []
    refused: list[str] = []
    for path, name in drawn:
        try:
            both = {kind: stubs.stub(texts[path], path, [name], kind).text for kind in StubKind}
        except CannotStub as reason:
            refused.append(str(reason))
            continue
        made += [(f"{path}: {name} ({kind})", {path: text}) for kind, text in both.items()]
    said = await compile_each(
        BuildContext(session.engine, image, session.labels), stubs.COMPILE, [files for _, files in made]
    )
    broken = tuple(f"{what}: {words}" for (what, _), words in zip(made, said, strict=True) if words)
    return StubSample(repo.name, len(drawn), len(made), tuple(refused), broken)


def rate(samples: Sequence[StubSample]) -> float:
    """Stubs that compile at the first try, of all that were made."""
    return sum(each.compiling for each in samples) / max(1, sum(each.stubs for each in samples))
