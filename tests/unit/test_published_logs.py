"""A recorded log of UTscapy: its names are those of tests, whole, whatever stands in them, and nothing else is one.

tests/fixtures/utscapy/regression.log is what the campaign test/regression.uts printed in the image of
scripts/published_images, less those lines whose names are plain. The docker tests run campaigns in that image.
"""

import importlib.util
import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from harness.plugins.published.campaigns import campaign_tests
from harness.plugins.published.parsed_log import attributed, parsed_tests, read_published
from harness.plugins.published.rule import found_as
from harness.plugins.published.seen_tests import reported_tests
from harness.specs.test_results import TestId

FIXTURES = Path(__file__).parents[1] / "fixtures"
LOG = (FIXTURES / "utscapy" / "regression.log").read_text()
PARSER = FIXTURES / "swe_atlas_published" / "scapy-type-bitmaps" / "tests" / "parse_script.py"
SUMMARY = "PASSED=1076 FAILED=150 | All campaigns executed. Writing output..."
FOUND = re.findall(r"^(?:passed|failed) [0-9A-F]{8} [\d.]+s (.+)$", LOG, re.MULTILINE)
PRINTED = list(dict.fromkeys(" ".join(name.split()) for name in FOUND))


def parsed() -> dict[str, str]:
    """What the task's own parser makes of the log: it isn't careful."""
    spec = importlib.util.spec_from_file_location("parse_script", PARSER)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {" ".join(name.split()): status for name, status in module.parse(LOG).items()}


def campaign(names: Iterable[str]) -> str:
    """A test of each name, in sets whose headings have names of tests in them."""
    text = "% regression\n"
    for number, name in enumerate(names):
        heading = (
            "" if number % 20 else f"\n{'#' * 20}\n# more\n{'#' * 20}\n+ Test fragment() / defragment() functions\n"
        )
        text += f"{heading}\n= {name}\ncheck({number})\n"
    return text


FRAGMENTS = ("fragment()", "Packet().fragment()", "defragment()", "fragment() and overloaded_fields")
WEIRD = [f"in6_getAddrType - Weird address ({start}::1)" for start in ("FE", "FE8", "1", "1000")]


def test_the_log_has_names_of_every_kind_and_a_summary_that_is_parsed():
    assert {*FRAGMENTS, *WEIRD} < set(PRINTED)
    assert list(parsed()) == [*PRINTED, SUMMARY]
    assert sum(any(name in other for other in PRINTED if other != name) for name in PRINTED) > 50


@pytest.mark.parametrize(
    "read", [campaign_tests, lambda text: reported_tests(text, parsed())], ids=["grammar", "run"]
)
def test_each_printed_name_is_a_test_at_its_own_line_and_the_summary_is_none(read):
    text = campaign(PRINTED)
    lines = text.splitlines()
    assert {test.name: lines[test.first_line - 1] for test in read(text.encode()).tests} == {
        name: f"= {name}" for name in PRINTED
    }


def test_a_test_at_the_end_of_each_set_and_a_line_in_one_change_nothing_else():
    text = campaign(PRINTED)
    before = {test.name: test.text for test in campaign_tests(text.encode()).tests}
    longer = text.replace(f"\n\n{'#' * 20}\n# more", f"\n\n= One more\ncheck(1)\n\n{'#' * 20}\n# more")
    assert longer.count("= One more") > 5
    longer = longer.replace(f"= {WEIRD[2]}\n", f"= {WEIRD[2]}\ncheck(0)\n\n")
    after = {test.name: test.text for test in campaign_tests(longer.encode()).tests}
    assert after.keys() - before.keys() == {"One more"}
    assert [name for name in before if before[name] != after[name]] == [WEIRD[2]]


def written() -> bytes:
    """As the parser writes it."""
    return json.dumps({"tests": [{"name": name, "status": status} for name, status in parsed().items()]}).encode()


def test_each_result_is_of_the_test_that_has_its_name_whole():
    file = "test/regression.uts"
    listed = [TestId(file, name) for name in PRINTED]
    report = attributed(read_published(written(), file), listed)
    assert [case.test for case in report.cases] == listed


def test_the_published_rules_take_what_follows_two_colons_for_a_name():
    assert found_as(WEIRD[0], parsed_tests(written())) == WEIRD


def test_the_counts_of_a_campaign_are_no_test() -> None:
    names = (
        "Counts of a table",
        "PASSED=1061 FAILED=149 | All campaigns executed. Writing output...",
        "PASSED=2 words",
    )
    data = json.dumps({"tests": [{"name": name, "status": "PASSED"} for name in names]}).encode()
    assert [case.test.name for case in read_published(data, "test/regression.uts").cases] == [names[0], names[2]]
    assert len(read_published(data, "tests/test_counts.py").cases) == 3
