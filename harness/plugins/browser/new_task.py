"""The files of a new task on a stage, for its author to fill in.

They are in order as they lie there but for what only the author can say, which is marked TODO: a check refuses a task
that has one left. The arms of the same behaviour are those that any application can have.
"""

import os
import re
from pathlib import Path

from harness.authoring.task_check import rubric_lint
from harness.authoring.task_check.reference_files import MANIFEST
from harness.authoring.task_new.skeletons import check_slug, task_yaml
from harness.plugins.browser.application import application_directory
from harness.plugins.browser.task import ARMS, E2E, PAGES, RUBRIC, STABLE, TECHNIQUE
from harness.specs.errors import UserError
from harness.specs.yaml_files import Inline, Quoted, yaml_text

MUST_HAVES = {E2E: rubric_lint.MUST_HAVES, TECHNIQUE: range(4, 16)}
"""Counts that a rubric may have; the files begin with the fewest. A constraint needs fewer than an application."""

_LIMITS = {
    E2E: "{steps: 150, wall_seconds: 5400, cost_usd: 8.0, arm_seconds: 600}",
    TECHNIQUE: "{steps: 100, wall_seconds: 3600, cost_usd: 5.0, arm_seconds: 400}",
}

_PROMPT = """\
# TODO: what it is about

TODO: say in a colleague's words what the application is for, and that `{told}` says how it is started. Ask for tests
in a browser in `{test}`, with pytest-playwright (`page` and `base_url` are there).

They must notice when one of these no longer holds:

- TODO: one line for each must-have; name no place of the source.

TODO: {rest}
"""
_REST = {
    E2E: "say what will stay, so that tests may rely on it, and name each word of stable.yaml.",
    TECHNIQUE: "state the constraint (labels change, the backend can't be stopped, ...), and what follows from it.",
}

_TEST = '''\
"""TODO: say what these tests are about, and write one for each must-have at least."""

from playwright.sync_api import Page, expect


def test_the_first_page(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("heading").first).to_be_visible()
'''

_WALK = '''\
"""TODO: go to each page that the tests of this task use, and look at it."""

from collections.abc import Callable

from playwright.sync_api import Page


def test_pages(page: Page, look: Callable[[Page, str], None]) -> None:
    page.goto("/")
    look(page, "home")
'''

_SAME = """\
schema_version: 1
same:
  - name: slow
    reason: timing-dependent
    proxy: {delay: [0.05, 0.4], once: 2, pieces: 3}
  - name: markup
    reason: markup-dependent
    proxy: {markup: true}
  - name: another-machine
    env: {TZ: America/Los_Angeles, BROWSER_LOCALE: en-GB, BROWSER_WINDOW: 1100x640}
"""
_ALSO = {
    E2E: """\
  - name: other-elements
    reason: markup-dependent
    edits:
      - {file: TODO, old: "TODO: an element that may look different next week", new: "the same, made otherwise"}
alone: 2
""",
    TECHNIQUE: """\
  - name: constraint  # TODO: what is so where it holds, and makes a test fail that neglects it
    reason: technique-not-shown
    proxy: {refuse: [{path: "^/TODO", how: drop}]}
technique: ["1.1"]
""",
}
_MUTANT = """\
  - probe: "{probe}"
    edits:
      - {{file: TODO, old: "TODO: a place of the source that is there exactly once", new: "what breaks {probe}"}}
"""

_STABLE = """\
schema_version: 1
# TODO: what tests may rely on, in the application's words. The prompt names each, and no arm of `same` changes one.
routes: [/]
labels: []
texts: []
"""


def new_task(application: str, directory: Path, track: str) -> list[Path]:
    """Lay out a task's files, and return their paths.

    Args:
        application: Its name; one of one's own lies beside the task, beside the folder that the task lies in, or in
            `browser/` of its catalog.
        directory: Where the task is to lie. Its name is the task's id.
        track: One of `MUST_HAVES`.

    Raises:
        UserError: The directory is there already, its name is no id, or there is no such application or track.
    """
    if track not in MUST_HAVES:
        raise UserError(f"--track {track}: is {' or '.join(MUST_HAVES)}")
    task = directory.resolve().name
    check_slug(task, "a task")
    check_slug(application, "an application")
    if os.path.lexists(directory):
        raise UserError(f"{directory}: is there already; take another name, or remove it")
    own = application_directory(application, directory.resolve())
    told = "TESTING.md" if (own / "app" / "TESTING.md").is_file() else "README.md"
    texts = laid_out(task, application, track, told)
    for name, text in texts.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)
    return [directory / name for name in texts]


def laid_out(task: str, application: str, track: str, told: str = "TESTING.md") -> dict[str, str]:
    """Return a task's files, by their names; `told` is the application's file that says how it is started."""
    test = f"tests/test_{re.sub(r'[^a-z0-9]+', '_', task)}.py"
    probes = [f"1.{number}" for number in range(1, MUST_HAVES[track].start + 1)]
    mutants = "must_fail:\n" + "".join(_MUTANT.format(probe=probe) for probe in probes)
    texts = {
        "task.yaml": task_yaml(task, application, "e2e", "TODO", track, _LIMITS[track], ["python", "browser", track]),
        "prompt.md": _PROMPT.format(told=told, test=test, rest=_REST[track]),
        RUBRIC: _rubric(task, probes),
        ARMS: _SAME + _ALSO[track] + mutants,
        PAGES: _WALK,
        f"reference/{test}": _TEST,
        MANIFEST: f'- file: {test}\n  tests:\n    - "test_the_first_page"\n',
    }
    return texts | ({STABLE: _STABLE} if track == E2E else {})


def _rubric(task: str, probes: list[str]) -> str:
    criteria = [
        {
            "id": Quoted(probe),
            "axis": 1,
            "importance": "must",
            "statement": Quoted(f"Tests that TODO ({probe}: what must hold for its users)."),
            "graded_by": Inline(["probe"]),
        }
        for probe in probes
    ]
    return yaml_text({"schema_version": 1, "task": task, "criteria": criteria})
