"""Runs with tasks of several tracks: nothing that is told of them averages over two."""

import json
import re
from pathlib import Path

import pytest

from harness.results.run_rows import by_track, load_rows, tracks_of
from harness.results.site.build import SiteBuilder
from harness.specs.errors import UserError
from tests.support.command import Done, typed
from tests.support.compared_runs import ONE, TWO, judged_run

TASKS = ("aiosmtpd-call-limit", "itsdangerous-clock-ahead", "restic-duration")
"""One bug among tasks of behaviour."""


def typed_at(run: Path, command: str, *options: str) -> Done:
    return typed(command, str(run), *options, cwd=run.parent)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One model resolves the bug alone, the other one all but the bug."""
    return judged_run(tmp_path_factory.mktemp("tracks") / "run", {ONE: "fRf", TWO: "RfR"}, tasks=TASKS)


def test_rows_know_their_track_and_what_was_asked_for_goes_with_them(run: Path) -> None:
    rows = load_rows(run)
    assert tracks_of([rows]) == ("behaviour", "bug")
    assert {row.task: row.track for row in rows.trials}["itsdangerous-clock-ahead"] == "bug"
    [of_bugs] = by_track([rows])["bug"]
    assert {task for tasks in of_bugs.asked.values() for task in tasks} == {"itsdangerous-clock-ahead"}
    assert len(of_bugs.trials) == 2


def test_a_trial_that_never_began_counts_in_its_own_track(tmp_path: Path) -> None:
    rows = load_rows(judged_run(tmp_path / "run", {ONE: "R.R"}, tasks=TASKS))
    assert tracks_of([rows]) == ("behaviour", "bug")
    assert by_track([rows])["bug"][0].asked == {f"mini/{ONE}": {"itsdangerous-clock-ahead": 1}}


def test_a_report_has_the_rates_of_each_track_by_themselves(run: Path) -> None:
    told = json.loads(typed_at(run, "report", "--json").output)
    rates = {(row["track"], row["model"]): row["rate"]["value"] for row in told["systems"]}
    assert rates == {("behaviour", ONE): 0.0, ("behaviour", TWO): 1.0, ("bug", ONE): 1.0, ("bug", TWO): 0.0}
    assert {row["track"] for row in told["sizes"]["classes"]} <= {"behaviour", "bug"}
    words = typed_at(run, "report").output
    assert "track behaviour: 4 trials" in words
    assert "track bug: 2 trials" in words
    assert "67%" not in words
    assert "33%" not in words


def test_one_track_is_told_as_ever(run: Path) -> None:
    told = json.loads(typed_at(run, "report", "--track", "bug", "--json").output)
    assert {row["rate"]["value"] for row in told["systems"]} == {0.0, 1.0}
    assert "track" not in told["systems"][0]


@pytest.mark.parametrize("command", ["report", "show", "show --json", "show --json --rows tests"])
def test_a_track_that_no_trial_has_is_refused_in_the_same_words(run: Path, command: str) -> None:
    name, *options = command.split()
    refused = typed_at(run, name, *options, "--track", "bugs")
    words = "testwright: --track bugs: no trial of this track; there are: behaviour, bug\n"
    assert refused == Done(2, "", words)


def test_what_a_run_comes_to_is_said_by_track(run: Path) -> None:
    words = typed_at(run, "show").output
    assert words.index("Track behaviour:") < words.index("Track bug:")
    assert "Track" not in typed_at(run, "show", "--track", "bug").output


def test_sides_are_compared_at_one_track(run: Path) -> None:
    sides = ("--a", f"mini/{ONE}", "--b", f"mini/{TWO}")
    refused = typed_at(run, "compare", *sides)
    assert refused.status == 2
    assert "name one with --track: behaviour, bug" in " ".join(refused.complaint.split())
    told = json.loads(typed_at(run, "compare", *sides, "--track", "bug", "--json").output)
    assert told["tasks"] == ["itsdangerous-clock-ahead"]


def test_a_site_has_figures_for_each_track_and_none_over_both(run: Path, tmp_path: Path) -> None:
    assert SiteBuilder([run], tmp_path / "site").build() == 6
    front = (tmp_path / "site" / "index.html").read_text()
    assert re.findall(r'<h2 id="track-(\w+)">', front) == ["behaviour", "bug"]
    rates = re.findall(r'track=(\w+)&amp;system=mini[^"]*?(one|two)">(\d+%)<', front)
    assert sorted(rates) == [
        ("behaviour", "one", "0%"),
        ("behaviour", "two", "100%"),
        ("bug", "one", "100%"),
        ("bug", "two", "0%"),
    ]
    for page in ("index.html", "figures.html", "axes.html"):
        text = (tmp_path / "site" / page).read_text()
        assert "67%" not in text
        assert "33%" not in text
    assert sorted(path.name for path in (tmp_path / "site" / "compare").iterdir()) == ["behaviour", "bug"]


def test_a_site_may_be_of_one_track(run: Path, tmp_path: Path) -> None:
    assert SiteBuilder([run], tmp_path / "bugs", track="bug").build() == 2
    assert "track-bug" not in (tmp_path / "bugs" / "index.html").read_text()
    assert "restic-duration" not in (tmp_path / "bugs" / "tasks.html").read_text()
    with pytest.raises(UserError, match="there are: behaviour, bug"):
        SiteBuilder([run], tmp_path / "none", track="design").build()
