"""The site's pages as text: what they forbid, what they escape, what they have room for."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote
from xml.etree import ElementTree as ET

import pytest

from harness.judging.verify.evidence import listed_arm
from harness.results.leaderboard import exact_rate, pareto_front
from harness.results.report.run_report import show_run
from harness.results.scores import TaskScore, Who
from harness.results.site import plots
from harness.results.site.build import SiteBuilder
from harness.results.site.comparison_pages import patch_view
from harness.results.site.material import link, root_of, run_names
from harness.results.site.pages import LongTexts, Pages, visible
from harness.results.site.plots import (
    COLOURS,
    GREY,
    Dots,
    Line,
    Point,
    dots_plot,
    interval_plot,
    scatter_plot,
    stacked_plot,
)
from harness.results.site.trial_pages import arm_words
from harness.results.statistics.proportions import Bounds
from harness.sandbox.protocol import JobResult
from harness.specs.catalog_places import default_directory
from harness.specs.errors import UserError
from harness.specs.reasons import ReasonCode, Verdict
from tests.support.command import typed_beside
from tests.support.hostile_run import HOSTILE, hostile_run
from tests.support.run_folder import begun, evidenced, judged, run_folder, verdict, worked


class Tags(HTMLParser, list[tuple[str, dict[str, str]]]):
    """Every tag of a page, with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.append((tag, {name: value or "" for name, value in attrs}))


def depth(site: Path, page: Path) -> int:
    return len(page.relative_to(site).parts) - 1


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    SiteBuilder([hostile_run(folder / "run")], folder / "site").build()
    return folder / "site"


def pages_of(site: Path) -> list[Path]:
    return sorted(site.rglob("*.html"))


def test_every_character_that_acts_or_hides_is_shown_by_its_code() -> None:
    assert visible("a\x1b[2J\u202e\u200b\U000e0041\r\x85\u2028") == (
        "a\\x1b[2J\\u202e\\u200b\\U000e0041\\r".replace("\\r", "\\x0d") + "\\x85\\u2028"
    )
    assert visible("näh\tline\nほげ 👍 <b>") == "näh\tline\nほげ 👍 <b>"


def test_every_page_forbids_what_it_does_not_need(hostile: Path) -> None:
    for page in pages_of(hostile):
        tags = Tags(page.read_text())
        [policy] = [given["content"] for tag, given in tags if given.get("http-equiv") == "Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; ")
        assert "img-src 'self' data:" in policy
        assert "unsafe" not in policy
        data = ["trials.js"] if page.name == "trials.html" else []
        scripts = [given["src"] for tag, given in tags if tag == "script"]
        assert scripts == [*data, f"{'../' * depth(hostile, page)}site.js"]
        assert not [tag for tag, given in tags if tag in ("style", "iframe", "img", "object", "base")], page
        assert not [name for _, given in tags for name in given if name == "style" or name.startswith("on")], page


def test_hostile_text_is_never_markup(hostile: Path) -> None:
    for page in pages_of(hostile):
        text = page.read_text()
        assert not re.search("<(script>|img|iframe|svg onload|a href='java)", text), page
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]", text), page
    trial = next(page for page in pages_of(hostile) if page.name == "1.html").read_text()
    assert "{{ 7 * 7 }}" in trial


def test_pages_have_a_limit_and_what_is_cut_is_in_a_file(hostile: Path) -> None:
    assert all(page.stat().st_size < 1_000_000 for page in pages_of(hostile))
    trial = next(page for page in pages_of(hostile) if page.name == "1.html")
    [*names] = re.findall(r'more characters are in <a href="([^"]+)"', trial.read_text())
    sizes = [(trial.parent / name).resolve().stat().st_size for name in map(unquote, names)]
    assert max(sizes) >= 5_000_000


def test_a_long_trajectory_goes_on_in_further_pages(tmp_path: Path) -> None:
    from harness.agents.trajectory import Trajectory
    from harness.models.protocol import Message, MessageRole
    from harness.models.replay import MessageRecord

    store = judged(evidenced(worked(begun(run_folder(tmp_path / "run"), "a", "mini", "openai/one"))))
    with Trajectory(store.trajectory) as trajectory:
        for step in range(1, 201):
            trajectory.add(
                MessageRecord(step=step, message=Message(role=MessageRole.ASSISTANT, content="word " * 2_000))
            )
    SiteBuilder([tmp_path / "run"], tmp_path / "site").build()
    parts = sorted((tmp_path / "site" / "trials").rglob("*.html"))
    assert len(parts) > 4
    assert all(part.stat().st_size < 1_000_000 for part in parts)
    found = {step for part in parts for step in re.findall(r'id="step-(\d+)"', part.read_text())}
    assert found == {str(step) for step in range(201)}


def test_a_trials_page_tells_which_hosts_were_refused(tmp_path: Path) -> None:
    from harness.agents.trajectory import EgressRecord, RefusedContact, Trajectory

    store = judged(evidenced(worked(begun(run_folder(tmp_path / "run"), "a", "mini", "openai/one"))))
    with Trajectory(store.trajectory) as trajectory:
        trajectory.add(EgressRecord(refused=(RefusedContact(host="<b>.test", port=443, why="host", count=2),)))
    SiteBuilder([tmp_path / "run"], tmp_path / "site").build()
    [page] = (tmp_path / "site" / "trials").rglob("*.html")
    assert "<li>refused host: <code>&lt;b&gt;.test:443, 2 times (host)</code></li>" in page.read_text()
    front = (tmp_path / "site" / "activity.html").read_text()
    words = '<a href="trials/a/mini/openai_one/1.html#conduct">a mini openai/one #1</a></th><td>refused host</td>'
    assert words in front.replace(page.relative_to(tmp_path / "site").as_posix(), "trials/a/mini/openai_one/1.html")


@pytest.mark.long
async def test_declared_weights_give_tiers_with_intervals_beside_the_plain_rate(tmp_path: Path) -> None:
    (tmp_path / "weights.yaml").write_text("weights: {comprehensiveness: 2, placement: 1}\ntiers: {A: 0.5, B: 0}\n")
    words = ("report", Path("docs/sample-run").resolve(), "--site", tmp_path / "site")
    done = await typed_beside(*words, "--weights", tmp_path / "weights.yaml", cwd=tmp_path)
    assert done.status == 0, done.complaint
    front = (tmp_path / "site" / "figures.html").read_text()
    [section] = re.findall('<h2 id="tiers">.*?</table>', front, re.DOTALL)
    assert "comprehensiveness 2, placement 1" in section
    told = re.search(r"nop</th><td>B</td><td>B to A</td>(.*?)</tr>", section)
    assert told, section
    assert re.findall(">([^<]+)</td>", told[1]) == ["0%", "0% to 66%", "0%", "0% to 66%"]
    (tmp_path / "weights.yaml").write_text("weights: {beauty: 2}\n")
    refused = await typed_beside(*words, "--weights", tmp_path / "weights.yaml", cwd=tmp_path)
    assert (refused.status, refused.complaint.count("\n")) == (2, 1)
    assert "no axis is called beauty" in refused.complaint


def test_a_plot_has_no_style_of_its_own_and_says_what_it_shows() -> None:
    point = Point(f"a {HOSTILE}", 0.5, 0.4, Bounds(0.2, 0.8), Bounds(0.1, 0.9))
    plots = [
        interval_plot("one", "title", "words", [point], "rate"),
        scatter_plot("two", "title", "words", [point], [point], "USD", "rate"),
        stacked_plot("three", "title", "words", ["1", "2"], [Line("read", [0.5, 0.25], GREY)], "tenth", "share"),
        dots_plot("four", "title", "words", ["placement"], [Dots("a", 1, [0.0], [Bounds(0, 0.3)])], "met"),
    ]
    for svg in plots:
        root = ET.fromstring(svg)
        assert "style" not in svg
        assert "<image" not in svg
        assert root.attrib["role"] == "img"
        assert [child.text for child in root][:2] == ["title", "words"]
    assert "\u202e" not in "".join(plots)


def test_lines_of_listed_tests_are_marked(tmp_path: Path) -> None:
    reference = default_directory() / "tasks" / "aiosmtpd-proxy-tlv" / "reference"
    view = patch_view(
        reference / "tests.patch",
        ["aiosmtpd/tests/test_proxyprotocol.py::TestParseTLV::test_nothing"],
        LongTexts(Pages(tmp_path, "x"), "a.html"),
    )
    assert view
    assert not any(line.test for line in view.lines)
    head = "--- /dev/null\n+++ b/test_a.py\n@@ -0,0 +1,5 @@\n"
    patch = f"{head}+def helper():\n+    pass\n+\n+def test_one():\n+    assert 1\n"
    (tmp_path / "p.diff").write_text(patch)
    view = patch_view(tmp_path / "p.diff", ["test_a.py::test_one"], LongTexts(Pages(tmp_path, "x"), "a.html"))
    assert view
    assert [line.text for line in view.lines if line.test] == ["+def test_one():", "+    assert 1"]


def test_a_folder_of_other_files_is_left_alone(tmp_path: Path) -> None:
    run = run_folder(tmp_path / "run")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    with pytest.raises(UserError, match="files that aren't a site's"):
        SiteBuilder([run], tmp_path / "out").build()
    with pytest.raises(UserError, match="no run here"):
        SiteBuilder([tmp_path], tmp_path / "new").build()
    with pytest.raises(UserError, match="named twice"):
        SiteBuilder([run, run], tmp_path / "new").build()


def test_names_become_addresses_that_stay_in_the_folder() -> None:
    assert link("tasks/a b#c?.html") == "tasks/a%20b%23c%3F.html"
    assert root_of("trials/a/b/c/1.html") == "../../../../"
    assert run_names([Path("/x/first"), Path("/y/first")]) == ["first", "first-2"]


def test_damaged_files_are_told_and_stop_nothing(tmp_path: Path) -> None:
    store = judged(worked(begun(run_folder(tmp_path / "run"), "a", "mini", "openai/one")))
    store.trajectory.write_text("not json\n{}\n")
    (store.directory / "evidence.json").write_text("{")
    SiteBuilder([tmp_path / "run"], tmp_path / "site").build()
    [page] = (tmp_path / "site" / "trials").rglob("1.html")
    assert "the trajectory can&#39;t be read" in page.read_text()
    assert str(tmp_path) not in "".join(page.read_text() for page in pages_of(tmp_path / "site"))


def test_a_system_has_one_colour_on_every_page_and_in_the_stylesheet(tmp_path: Path) -> None:
    style = (Path(plots.__file__).parent / "static" / "site.css").read_text()
    assert re.findall(r"\.s\d \{ background: (#\w+); \}", style) == list(COLOURS)
    run = run_folder(tmp_path / "run")
    for number, scaffold in enumerate(("mini", "codex", "command")):
        for task in ("a", "b")[: number + 1]:
            judged(evidenced(worked(begun(run, task, scaffold, "openai/one"))))
    SiteBuilder([run], tmp_path / "site").build()
    seen: dict[str, set[str]] = {}
    for page in ("index.html", "figures.html", "tasks/a.html"):
        named = r'<span class="swatch (s\d)" aria-hidden="true"></span>([^<]+)'
        for colour, system in re.findall(named, (tmp_path / "site" / page).read_text()):
            seen.setdefault(system.strip(), set()).add(colour)
    assert {name: len(colours) for name, colours in seen.items()} == dict.fromkeys(seen, 1)
    assert len(set.union(*seen.values())) == 3
    front = (tmp_path / "site" / "index.html").read_text()
    drawn = set(re.findall(r"#[0-9a-f]{6}", front))
    assert {COLOURS[int(next(iter(colours))[1:])] for colours in seen.values()} <= drawn


def test_each_number_of_the_first_page_leads_to_the_trials_that_it_counts(tmp_path: Path) -> None:
    run = run_folder(tmp_path / "run")
    judged(evidenced(worked(begun(run, "a", "mini", "openai/one"))))
    judged(evidenced(worked(begun(run, "a", "mini", "openai/one", 2))), ReasonCode.CRITERION_UNMET)
    judged(evidenced(worked(begun(run, "b", "codex", "openai/one"))), ReasonCode.PLACEBO_SENSITIVE)
    worked(begun(run, "b", "mini", "openai/one"))
    SiteBuilder([run], tmp_path / "site").build()
    trials = results(tmp_path / "site")
    found = 0
    for query, number in re.findall(
        r'href="trials.html#([^"]+)">(\d+)</a>', (tmp_path / "site/index.html").read_text()
    ):
        wanted = dict(parse_qsl(query.replace("&amp;", "&")))
        own = [
            trial
            for trial in trials["trials"]
            if all(
                (value in trial["reasons"])
                if name == "reason"
                else (trials["systems"][trial["system"]]["label"] == value)
                if name == "system"
                else trial[name] == value
                for name, value in wanted.items()
            )
        ]
        assert len(own) == int(number), wanted
        found += 1
    assert found > 8


def results(site: Path) -> dict[str, Any]:
    """The data of the list of trials."""
    text = (site / "trials.js").read_text()
    found: dict[str, Any] = json.loads(text.removeprefix("const RESULTS = ").removesuffix(";\n"))
    return found


def test_tracks_have_figures_of_their_own(tmp_path: Path) -> None:
    run = run_folder(tmp_path / "run")
    judged(evidenced(worked(begun(run, "a", "mini", "openai/one"))))
    other = evidenced(worked(begun(run, "b", "mini", "openai/one")))
    record = verdict(other, ReasonCode.CRITERION_UNMET)
    judged(other, record=record.model_copy(update={"track": "bug"}))
    SiteBuilder([run], tmp_path / "site").build()
    front = (tmp_path / "site" / "index.html").read_text()
    assert re.findall(r'<h2 id="track-(\w+)">', front) == ["behaviour", "bug"]
    rates = re.findall(r"track=(\w+)&amp;system=mini[^\"]*\">(\d+%)<", front)
    assert rates == [("behaviour", "100%"), ("bug", "0%")]
    assert {trial["track"] for trial in results(tmp_path / "site")["trials"]} == {"behaviour", "bug"}


REPORT = """<testsuite><testcase file="tests/test_a.py" classname="tests.test_a" name="test_adds" time="0.1">
<failure message="AssertionError: assert 3 == 4 &lt;b&gt;">def test_adds():
&gt;       assert add(1, 2) == 4
E       AssertionError: assert 3 == 4</failure></testcase></testsuite>"""


def test_a_failing_test_is_shown_with_its_assertion_in_each_arm(tmp_path: Path) -> None:
    store = judged(evidenced(worked(begun(run_folder(tmp_path / "run"), "aiosmtpd-proxy-tlv", "mini", "openai/one"))))
    SiteBuilder([tmp_path / "run"], tmp_path / "site").build()
    [page] = (tmp_path / "site" / "trials").rglob("1.html")
    assert 'id="failures"' not in page.read_text()
    outputs = {"1.xml": REPORT.encode()}
    said = JobResult(1, timed_out=False, out_of_memory=False, log=b"", outputs=outputs, complete=True, seconds=1.0)
    store.keep_arm(listed_arm("removal-1"), said)
    SiteBuilder([tmp_path / "run"], tmp_path / "site").build()
    [shown] = re.findall('<h3 id="failures">.*?</section>', page.read_text(), re.DOTALL)
    assert "test_adds</code> fails in 1 arm" in shown
    assert "removal-1: assertion <code>AssertionError: assert 3 == 4 &lt;b&gt;</code>" in shown
    assert "assert add(1, 2) == 4" in shown
    (store.directory / "arms" / "removal-1" / "1.xml").write_text("<testsuite><testcase")
    SiteBuilder([tmp_path / "run"], tmp_path / "site").build()
    assert 'id="failures"' not in page.read_text()


@pytest.mark.parametrize(
    ("arm", "words"),
    [
        ("twin-1.3_2", "twin 2 of probe 1.3"),
        ("twin-1.3", "twin 1 of probe 1.3"),
        ("probe-1.10", "probe 1.10"),
        ("garbage-2,run-2", "garbage, draw 2, run again: 2"),
        ("rewritten-1,control,test-3", "rewritten, draw 1, control, alone: test 3"),
        ("placebo-authored", "placebo authored"),
    ],
)
def test_the_name_of_an_arm_is_told_in_words(arm: str, words: str) -> None:
    assert arm_words(arm) == words


def test_a_patch_is_folded_by_file(tmp_path: Path) -> None:
    one = "diff --git a/a.py b/a.py\n--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,2 @@\n+x = 1\n+y = 2\n"
    other = "diff --git a/b c.py b/b c.py\n--- a/b c.py\n+++ b/b c.py\n@@ -1 +1 @@\n-old\n+new\n"
    (tmp_path / "p.diff").write_text(one + other)
    view = patch_view(tmp_path / "p.diff", [], LongTexts(Pages(tmp_path, "x"), "a.html"))
    assert view
    assert [(part.name, part.added, part.removed) for part in view.parts] == [("a.py", 2, 0), ("b c.py", 1, 1)]
    assert "".join(line.text for part in view.parts for line in part.lines) == "".join(
        line.text for line in view.lines
    )


def test_ties_are_decided_by_counts() -> None:
    verdicts = (Verdict.RESOLVED, Verdict.FAILED, Verdict.FAILED)
    thirds = [TaskScore(f"t{number}", "r", verdicts) for number in range(10)]
    whole = [TaskScore(f"t{number}", "r", (verdict,) * 3) for number, verdict in enumerate(verdicts)]
    assert exact_rate(thirds) == exact_rate(whole)
    one, other = Who("mini", "a"), Who("mini", "b")
    assert pareto_front({one: (exact_rate(thirds), 0.1 + 0.2), other: (exact_rate(whole), 0.3)}) == {one, other}


def test_a_system_that_ran_other_tasks_is_told_beside_its_rate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_folder(tmp_path / "run")
    for task, scaffold in (("a", "mini"), ("b", "mini"), ("a", "codex")):
        judged(evidenced(worked(begun(run, task, scaffold, "openai/one"))))
    SiteBuilder([run], tmp_path / "site").build()
    front = (tmp_path / "site" / "index.html").read_text()
    assert front.count("of 1 of 2 tasks") == 1
    assert "Not all systems were asked for the same tasks" in front
    show_run(run, None, as_json=False)
    assert "Ranks are of rates over different tasks" in " ".join(capsys.readouterr().out.split())
    judged(evidenced(worked(begun(run, "b", "codex", "openai/one"))))
    SiteBuilder([run], tmp_path / "site").build()
    assert "Not all systems" not in (tmp_path / "site" / "index.html").read_text()
    show_run(run, None, as_json=False)
    assert "different tasks" not in capsys.readouterr().out
