"""`task check --mutants`: mutants that known tests kill and no must-have asks for, in real containers."""

import shutil
from pathlib import Path

import pytest
import yaml

from harness.authoring.task_check.command import check
from harness.authoring.task_check.context import CheckOrder
from harness.authoring.task_stub import file_diff
from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.task_images import repo_image
from harness.specs.catalog import Catalog
from harness.specs.catalog_places import default_directory
from harness.specs.problem import Severity
from harness.specs.task_facts import CheckedStep, Level, StepId, StepOutcome
from tests.support.sound_catalog import added

pytestmark = pytest.mark.docker
TASK = "aiosmtpd-proxy-tlv"
PRODUCT = "aiosmtpd/proxy_protocol.py"
_BEGIN, _END = "        for k, v in cls.PP2_TYPENAME.items():\n", "        return None\n"
REFERENCE = """\
from aiosmtpd.proxy_protocol import ProxyTLV


def test_a_known_name_has_its_number():
    assert ProxyTLV.name_to_num("ALPN") == 1


def test_an_unknown_name_has_none():
    assert ProxyTLV.name_to_num("nobody") is None
"""
HONEST = """\
from aiosmtpd.proxy_protocol import ProxyTLV


class Nameless(ProxyTLV):
    PP2_TYPENAME = {}


def test_where_there_are_no_names_there_is_no_number():
    assert Nameless.name_to_num("ALPN") is None
"""


def _suite(folder: Path, patch: str, file: str, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / patch).write_text(added(file, text))
    names = [line.split("(")[0].removeprefix("def ") for line in text.splitlines() if line.startswith("def ")]
    (folder / "manifest.yaml").write_text(yaml.safe_dump([{"file": file, "tests": names}]))


@pytest.fixture
async def catalog(tmp_path: Path) -> Catalog:
    """A shipped task of which one function is taken out, and one must-have: an unknown name has no number."""
    shipped = default_directory()
    for name in ("repos/aiosmtpd", f"tasks/{TASK}", "scaffolds"):
        shutil.copytree(shipped / name, tmp_path / name)
    (tmp_path / "rubrics").mkdir()
    rubric = yaml.safe_load((shipped / "rubrics" / f"{TASK}.yaml").read_text())
    rubric["criteria"] = [item for item in rubric["criteria"] if item["id"] == "1.1"]
    (tmp_path / "rubrics" / f"{TASK}.yaml").write_text(yaml.safe_dump(rubric))
    task = tmp_path / "tasks" / TASK
    for patch in [*task.glob("probes*/*"), *task.glob("twins/*"), task / "placebo.patch", task / "garbage.patch"]:
        patch.unlink()
    text = (await GitTree((await repo_image(Catalog().repo("aiosmtpd"))).tree).read(PRODUCT)).decode()
    body = text[text.index(_BEGIN) : text.index(_END, text.index(_BEGIN)) + len(_END)]
    variants = {
        "removal.patch": text.replace(body, '        raise SystemError("gone")\n'),
        "probes/1.1.patch": text.replace(body, body.replace(_END, "        return 0\n")),
    }
    for name, changed in variants.items():
        (task / name).write_text(file_diff(PRODUCT, text.encode(), changed.encode()))
    _suite(task / "reference", "tests.patch", "aiosmtpd/tests/test_names.py", REFERENCE)
    (task / "reference" / "covers.yaml").write_text(
        yaml.safe_dump({"aiosmtpd/tests/test_names.py": {"test_an_unknown_name_has_none": ["1.1"]}})
    )
    return Catalog(tmp_path)


def _checked(catalog: Catalog) -> CheckedStep:
    [done] = check(
        catalog,
        {TASK: Level.BRIEF},
        1,
        lambda *_: None,
        order=CheckOrder(only=frozenset({StepId.MUTANTS}), mutants=50),
    )
    assert [step.id for step in done.steps] == [StepId.MUTANTS]
    return done.steps[0]


def _told(step: CheckedStep) -> dict[str, str]:
    """The line of code -> what is said of it."""
    return {words.split(":")[1]: words for problem in step.problems if (words := problem.message)}


def test_mutants_that_no_probe_subsumes_are_told_with_the_tests_that_notice_them(catalog: Catalog) -> None:
    step = _checked(catalog)
    told = _told(step)
    # `!=` for `==` is killed by the one test that notices the probe, too; what that lets live is told.
    assert list(told) == ["243", "245"]
    assert "returns None, not k" in told["245"]
    assert told["245"].endswith("test_names.py::test_a_known_name_has_its_number notices it")
    assert (step.outcome, {each.severity for each in step.problems}) == (StepOutcome.PASSED, {Severity.WARNING})
    assert step.remarks == ("4 mutants: 4 are killed by the tests of 1 suite; a must-have asks for 2 of these",)


@pytest.mark.long
def test_a_must_have_that_an_honest_suite_meets_otherwise_asks_for_less(catalog: Catalog) -> None:
    # Its test notices the probe and lets `!=` live.
    _suite(catalog.directory / "honest" / TASK / "empty", "patch.diff", "aiosmtpd/tests/test_nameless.py", HONEST)
    (catalog.directory / "honest" / TASK / "empty" / "expect.yaml").write_text(f"task: {TASK}\nverdict: resolved\n")
    step = _checked(catalog)
    assert list(_told(step)) == ["243", "244", "245"]
    assert step.remarks == ("4 mutants: 4 are killed by the tests of 2 suites; a must-have asks for 0 of these",)
