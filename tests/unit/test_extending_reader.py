"""The reader that docs/extending.md shows, run as it stands there."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.judging.testing.arm_job import Reading, TestRun, read_job
from harness.judging.testing.readers import reader_of
from harness.sandbox.protocol import JobResult
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.repo import REPORT_FORMATS
from harness.specs.test_results import Outcome, Quality, TestId
from harness.specs.variants import ArmStatus
from tests.support.docs import examples
from tests.support.tiny_catalog import tiny_catalog

FILE = "tests/sums.test"
TESTS = tuple(TestId(FILE, name) for name in ("adds", "divides", "rounds", "absent"))
WHOLE = b"pass adds\nfail divides\nskip rounds\nend\n"


@pytest.fixture
def lines():
    [code] = examples("extending.md", "A report format")
    names: dict[str, Any] = {}
    exec(code, names)
    yield names
    REPORT_FORMATS.unregister("lines")


def reading(data: bytes, exit_status: int = 1) -> Reading:
    result = JobResult(exit_status, False, False, b"", {"1.txt": data}, True, 1.0)
    return asyncio.run(read_job("lines", TestRun(TESTS, {}, frozenset(), (), (), 10), (), result))


def set_report(catalog: Path, name: str) -> Path:
    path = catalog / "repos" / "tiny" / "repo.yaml"
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), "report": name}, sort_keys=False))
    return path


def test_an_arm_is_read_by_it(lines):
    found = reading(WHOLE)
    assert found.status is ArmStatus.FINISHED
    assert [(item.test.name, item.outcome, item.quality) for item in found.results] == [
        ("adds", Outcome.PASSED, None),
        ("divides", Outcome.FAILED, Quality.RAISED),
        ("rounds", Outcome.SKIPPED, None),
        ("absent", Outcome.MISSING, None),
    ]
    assert reader_of("lines").count(WHOLE) == 3


@pytest.mark.parametrize("length", range(len(WHOLE) - 1))
def test_a_report_that_was_cut_off_yields_no_pass(lines, length):
    assert {item.outcome for item in reading(WHOLE[:length]).results} == {Outcome.MISSING}


def test_a_repository_can_name_it(lines, tmp_path):
    tiny_catalog(tmp_path, "reader")
    set_report(tmp_path, "lines")
    assert Catalog(tmp_path).task("tiny-add").repo.report == "lines"


def test_a_format_that_nobody_registered_is_an_error_of_its_file(tmp_path):
    tiny_catalog(tmp_path, "reader")
    path = set_report(tmp_path, "juint")
    line = path.read_text().splitlines().index("report: juint") + 1
    with pytest.raises(UserError) as error:
        Catalog(tmp_path).task("tiny-add")
    assert str(error.value) == f"{path}:{line}: report: unknown report format 'juint'; did you mean 'junit'?"


def test_what_is_registered_and_is_no_reader_is_told():
    REPORT_FORMATS.register("nothing", object())
    try:
        with pytest.raises(UserError, match=r"report format 'nothing'.* is no Reader"):
            reader_of("nothing")
    finally:
        REPORT_FORMATS.unregister("nothing")
