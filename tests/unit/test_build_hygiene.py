"""Hygiene of applications: what is found in their files, and what is not."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.plugins.build.hygiene import keys_in_files, readme_commands, undeclared_imports
from harness.plugins.build.steps import Files
from harness.plugins.build.task import REFERENCES, build_task, task_directories
from harness.specs.catalog import Catalog

PYTHON_LOCK, NODE_LOCK = "requirements.lock", "package-lock.json"
LOCKED = b"flask==3.1.3 \\\n    --hash=sha256:00\nmarkup-safe==3.0\n    # via flask\n"
NODE_LOCKED = b'{"packages": {"": {}, "node_modules/express": {}, "node_modules/@scope/part": {}}}'
REFERENCE_FILES = sorted(
    path for brief in task_directories("*") for path in (brief / REFERENCES).iterdir() if path.is_dir()
)


def files(**texts: str) -> Files:
    return Files({name: text.encode() for name, text in texts.items()})


def with_python(text: str, *more: str) -> tuple[str, ...]:
    return undeclared_imports(Files({"app/main.py": text.encode(), PYTHON_LOCK: LOCKED, **dict.fromkeys(more, b"")}))


def with_node(text: str) -> tuple[str, ...]:
    return undeclared_imports(Files({"src/main.js": text.encode(), NODE_LOCK: NODE_LOCKED}))


@pytest.mark.parametrize("directory", REFERENCE_FILES, ids=lambda path: f"{path.parents[1].name}-{path.name}")
def test_references_are_clean(directory: Path) -> None:
    texts = {path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*.*")}
    found = Files({name: text for name, text in texts.items() if not name.endswith("pyc")})
    assert undeclared_imports(found) == keys_in_files(found) == ()
    assert len(readme_commands(found)) == 2


@pytest.mark.parametrize(
    "text",
    [
        "import os, sys\nfrom . import x\nfrom ..y import z\nimport app.main\nfrom main import a\nimport pytest",
        "import flask\nfrom flask.json import dumps as d\nimport markup_safe",
        "try:\n    import ujson as json\nexcept ImportError:\n    import json",
        "import distutils.util",
        "text = 'import requests'\n# import requests",
        "def f(:\n  import",
    ],
)
def test_what_is_declared_or_ones_own_is_no_finding(text: str) -> None:
    assert with_python(text) == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import requests", "app/main.py:1: requests"),
        ("import os\nimport requests.auth as r", "app/main.py:2: requests"),
        ("from pygments.lexers import *", "app/main.py:1: pygments"),
        ("def f():\n    import flask, yaml", "app/main.py:2: yaml"),
        ("import flask_cors", "app/main.py:1: flask_cors"),
    ],
)
def test_an_import_that_no_lock_names_is_found(text: str, found: str) -> None:
    assert with_python(text) == (found,)


def test_a_module_of_ones_own_is_declared() -> None:
    assert with_python("import rules\nimport views.pages", "rules.py", "views/pages.py") == ()
    assert len(with_python("import rules\nimport views.pages")) == 2


def test_without_a_lock_each_package_is_a_finding() -> None:
    assert undeclared_imports(files(**{"a.py": "import flask"})) == ("a.py:1: flask",)
    assert undeclared_imports(files(**{"a.js": "require('express')"})) == ("a.js:1: express",)


@pytest.mark.parametrize(
    "text",
    [
        "const a = require('fs'); const b = require('node:test'); const c = require('./rules'); import('../x.js')",
        "import express, { json } from 'express';\nexport { x } from '@scope/part/inner';\nimport 'fs/promises';",
        "let p; try { p = require('bufferutil'); } catch { p = null; }",
        "const name = 'x'; require(name); require(`x`); notrequire('leftpad'); const t = \"require('leftpad')\";",
        "import x from '/static/x.js'; import y from 'https://example.org/y.js'; import z from '#inner';",
    ],
)
def test_of_node_what_is_declared_or_ones_own_is_no_finding(text: str) -> None:
    assert with_node(text) == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("\nconst a = require('leftpad')", "src/main.js:2: leftpad"),
        ("import a from '@scope/other/x'", "src/main.js:1: @scope/other"),
        ("export * from 'leftpad/x'", "src/main.js:1: leftpad"),
        ("const f = async () => import('leftpad')", "src/main.js:1: leftpad"),
    ],
)
def test_of_node_an_import_that_no_lock_names_is_found(text: str, found: str) -> None:
    assert with_node(text) == (found,)


@pytest.mark.parametrize(
    "key",
    [
        "AKIA2E0A8F3B244C9986",
        "ghp_" + "aB3dE6gH9j" * 3 + "kLmNoP",
        "sk-proj-" + "aB3dE6gH9jK2mN5pQ8sT" * 2,
        "AIza" + "Sy9B_xK3mR7tQ1wE5rT8yU2iO6pA4sD0fGhJ"[:35],
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----",
    ],
)
def test_a_key_is_found(key: str) -> None:
    assert keys_in_files(files(**{"a.py": f"x = 1\nkey = '{key}'\n", "b.md": "none"})) == ("a.py:2",)


@pytest.mark.parametrize(
    "text",
    [
        "sk-test-0123456789abcdef0123456789abcdef",
        "sk-" + "a" * 40,
        "AKIAIOSFODNN7EXAMPLE",
        "key-1",
        "sk-short",
        "-----BEGIN PUBLIC KEY-----",
        "ask-me-about-the-many-things-that-you-want-to-know",
        "sha256:b4ce2265a7abece45e7cc896e98dbebe6cead56bcf805a3d23136d145f5445bf",
    ],
)
def test_what_says_that_it_is_made_up_or_has_no_form_of_a_key_is_none(text: str) -> None:
    assert keys_in_files(files(**{"a.py": f"key = '{text}'"})) == ()


def test_the_commands_of_a_readme_are_its_blocks_of_shell_but_for_the_tests() -> None:
    text = (
        "# App\n\n```sh\nmake it\n./run\n```\n\n~~~bash\necho 1\n~~~\n\n```\nnot shell\n```\n\n```json\n{}\n```\n"
        "\n```sh\n./test\n```\n\n```shell\n./test tests/test_x.py\necho 2\n```\n"
    )
    assert readme_commands(files(**{"README.md": text})) == ("make it\n./run\n", "echo 1\n", "echo 2\n")
    assert readme_commands(files(**{"README.md": text.replace("\n", "\r\n")}))[0] == "make it\n./run\n"
    assert readme_commands(files(**{"README.md": "# App\n\nStart it with `./run`.\n"})) == ()
    assert readme_commands(files(**{"docs/README.md": text})) == ()
    assert len(readme_commands(files(**{"README.md": "```sh\nx\n```\n" * 50}))) == 10


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("```sh\nopen\n\n~~~sh\ntilde\n~~~\n", ("tilde\n",)),
        ("````sh\nlonger\n```sh\ninner\n```\n", ("inner\n",)),
        ("```sh\nfirst\n`````\n~~~\n```sh\nsecond\n   ```~ \t", ("first\n", "second\n")),
        ("~~~~sh\n~~~\n    ~~~~\n~~~~\n", ("~~~\n    ~~~~\n",)),
        ("```sh\n```\n```sh\nx\n```", ("x\n",)),
        ("    ```sh\nx\n```\n```sh\ny", ()),
    ],
)
def test_a_block_ends_at_a_fence_of_its_kind_that_is_as_long(text: str, blocks: tuple[str, ...]) -> None:
    assert readme_commands(files(**{"README.md": text})) == blocks


def seconds(find: Callable[[Files], object], name: str, text: str) -> float:
    """Return the processor time of a look at a file: the shortest of three."""
    file, taken = files(**{name: text}), []
    for _ in range(3):
        start = time.process_time()
        find(file)
        taken.append(time.process_time() - start)
    return min(taken)


@pytest.mark.parametrize(
    ("find", "name", "text"),
    [
        (readme_commands, "README.md", lambda size: "```sh\n" * size),
        (readme_commands, "README.md", lambda size: "~~~\n```sh\n" * size),
        (readme_commands, "README.md", lambda size: "```sh\n```\n" * size),
        (readme_commands, "README.md", lambda size: "````sh\nx\n```\n" * size),
        (readme_commands, "README.md", lambda size: "`" * size * 50 + "x"),
        (keys_in_files, "keys.txt", lambda size: "".join(f"AKIAQWERTYUIOPAS{n:04d}\n" for n in range(size))),
    ],
    ids=["never closed", "two kinds", "empty blocks", "closed too shortly", "one long line", "keys"],
)
def test_the_time_of_a_look_grows_with_the_text_and_no_faster(
    find: Callable[[Files], object], name: str, text: Callable[[int], str]
) -> None:
    """What is quadratic takes 64 times as long for 8 times as much."""
    small, large = (seconds(find, name, text(size)) for size in (1000, 8000))
    assert large < 20 * max(small, 0.001)


def test_hygiene_is_told_by_a_criterion_each() -> None:
    task = build_task(Catalog().task("build:link-shortener"))
    assert {"2.4", "5.3", "5.4"} <= {criterion.id for criterion in task.rubric.criteria}
