"""Arms with other markup in a browser: what a style hides is told, and a table of other elements is the same."""

import shutil
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
import yaml

from harness.authoring.task_check.context import arm_context_of
from harness.authoring.task_check.subject import Subject
from harness.plugins.browser.same_pages import page_problems
from harness.plugins.browser.task import PAGES, TECHNIQUE, load_task, task_directories, walk_of
from harness.runs.engine_session import engine_session
from harness.specs.catalog import Catalog

pytestmark = [pytest.mark.docker, pytest.mark.long]

ROWS = "<tr><td>{escape(client)}</td><td>{number}</td></tr>"
TABLE = """<table>
<caption>Hours of {year}</caption>
<thead><tr><th scope="col">Client</th><th scope="col">Hours</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>"""
DIVISIONS = """<div role="table" aria-label="Hours of {year}">
<div role="caption">Hours of {year}</div>
<div role="rowgroup"><div role="row"><b role="columnheader">Client</b> <b role="columnheader">Hours</b></div></div>
<div role="rowgroup">
{rows}
</div>
</div>"""
SAME = [
    {
        "name": "hides",
        "edits": [{"file": "deskapp/static/desk.css", "old": ".done {", "new": "#export,\n.done {display: none; "}],
    },
    {
        "name": "divisions",
        "edits": [
            {"file": "deskapp/pages.py", "old": TABLE, "new": DIVISIONS},
            {
                "file": "deskapp/pages.py",
                "old": ROWS,
                "new": "<div role='row'><div role='cell'>{escape(client)}</div><div role='cell'>{number}</div></div>",
            },
        ],
    },
    {"name": "markup", "proxy": {"markup": True}},
]


async def test_a_style_that_hides_a_button_is_told_and_other_elements_are_not(tmp_path: Path) -> None:
    [own] = task_directories("client-hours", TECHNIQUE)
    mine = tmp_path / own.name
    shutil.copytree(own, mine)
    shutil.copyfile(walk_of(load_task(own, TECHNIQUE)), mine / PAGES)
    arms = yaml.safe_load((mine / "arms.yaml").read_text())
    arms["same"] = [{**arm, "reason": "markup-dependent"} for arm in SAME]
    (mine / "arms.yaml").write_text(yaml.safe_dump(arms))
    task = load_task(mine, TECHNIQUE)
    async with engine_session("docker", f"test-browser-pages-{uuid4().hex}") as session:
        subject = replace(Subject(Catalog(), task), arm_context=await arm_context_of(session, task))
        problems = [problem.message for problem in await page_problems(subject)]
    words = "isn't the same to a screen reader: it lacks '- button \"Export\"'"
    assert problems == [f"in the arm hides the page 'clients' {words}"]
