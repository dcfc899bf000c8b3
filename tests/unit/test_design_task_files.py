"""What the files of a design say is checked without a container: each defect is one line, with its place."""

import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from harness.plugins.design.reading import _rows
from harness.specs.catalog import Catalog
from tests.support.command import typed
from tests.support.corpora import CATALOG
from tests.support.defects import Plant, edit, errors, remove, write

DESIGN, BASED = "password-reset", "cachetools-expiring-design"
IN_C = "jansson-values-design"
BASES = ("cachetools-expiring-entries", "jansson-values-by-format")
REPOS = ("itsdangerous", "cachetools", "jansson")
ADAPTER = "adapter/subject.py"
LATE = 'find: "> 30 * MINUTE"\n    put: ">= 30 * MINUTE"'


@pytest.fixture(autouse=True, scope="module")
def _read_once() -> Iterator[None]:
    """The designs that lie in a task are parsed for its first check alone: no case below changes the same ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harness.plugins.design.reading._rows", cache(_rows))
        yield


def copied(place: Path, name: str, plant: Plant = lambda _: None) -> Path:
    """Return a copy of a shipped design, in a catalog that has what it needs."""
    bases = [part for base in BASES for part in (f"tasks/{base}", f"rubrics/{base}.yaml")]
    for part in (*bases, *(f"repos/{repo}" for repo in REPOS)):
        (place / part).parent.mkdir(exist_ok=True)
        (place / part).symlink_to(CATALOG.directory / part)
    shutil.copytree(CATALOG.directory / "tasks" / name, place / "tasks" / name)
    plant(place / "tasks" / name)
    return place / "tasks" / name


ALL_BUT_ASK = """\
class Subject:
    def __init__(self, clock): ...
    def account(self, **told): ...
    reset = sign_in = account
"""

DEFECTS: dict[str, tuple[str, Plant, str]] = {
    "an adapter that is empty": (DESIGN, write(ADAPTER, ""), f"{ADAPTER}:1: has no class Subject(clock)"),
    "an adapter of zeros": (DESIGN, write(ADAPTER, "\0" * 9), f"{ADAPTER}:1: isn't Python: "),
    "a silence of no place of an adapter that isn't Python": (
        IN_C,
        edit("design.yaml", "find: json_loads(document, JSON_DECODE_ANY, &error)", "find: no_such_text"),
        "design.yaml:5: silence 'what a key is that is there twice': testwright_design/main.c has 'no_such_text' 0 ",
    ),
    "a mutant of no place": (
        DESIGN,
        edit("design.yaml", LATE, LATE.replace("> 30 *", "> 31 *", 1)),
        "design.yaml:49: 1.1-boundary-under: testwright_design/subject.py has '> 31 * MINUTE' 0 times; it must be",
    ),
    "a mutant of several places": (
        DESIGN,
        edit("design.yaml", LATE, LATE.replace("> 30 * MINUTE", "self.wrong", 1)),
        "design.yaml:49: 1.1-boundary-under: testwright_design/subject.py has 'self.wrong' ",
    ),
    "a mutant of no file": (
        DESIGN,
        edit("design.yaml", LATE, f"file: other.py\n    {LATE}"),
        "design.yaml:49: 1.1-boundary-under: there is no text file 'other.py' to change",
    ),
    "a mutant that changes nothing": (
        DESIGN,
        edit("design.yaml", LATE, LATE.replace(">= 30", "> 30")),
        "design.yaml:49: 1.1-boundary-under: find and put are the same",
    ),
    "a mutant that is no Python": (
        DESIGN,
        edit("design.yaml", LATE, LATE.replace(">= 30", ">= (30")),
        "design.yaml:49: 1.1-boundary-under: testwright_design/subject.py:35 isn't Python",
    ),
    "two mutants that are the same": (
        DESIGN,
        edit("design.yaml", 'put: "> 30 * MINUTE + 1"', 'put: ">= 30 * MINUTE"'),
        "design.yaml:54: 1.1-boundary-over: makes the same as 1.1-boundary-under; leave one out",
    ),
    "two mutants that come to the same": (
        DESIGN,
        edit(
            "design.yaml",
            LATE,
            LATE.replace("> 30 * MINUTE", "> 30 * MINUTE:", 1).replace(">= 30 * MINUTE", "> 30 * MINUTE + 1:"),
        ),
        "design.yaml:54: 1.1-boundary-over: makes the same as 1.1-boundary-under; leave one out",
    ),
    "two mutants of one probe": (
        BASED,
        edit("design.yaml", "probe: '1.5'", "probe: '1.1'"),
        "design.yaml:51: 1.2-partition-longer: makes the same as 1.1-boundary-late; leave one out",
    ),
    "a mutant of no probe": (
        BASED,
        edit("design.yaml", "probe: '1.5'", "probe: '1.55'"),
        "design.yaml:51: 1.2-partition-longer: cachetools-expiring-entries has no probe '1.55'",
    ),
    "a silence of no place": (
        DESIGN,
        edit("design.yaml", 'find: "if other[0] == email and', 'find: "if other == email and'),
        "design.yaml:38: silence 'what a used link is called once another is asked for': testwright_design/",
    ),
    "an adapter that is no Python": (
        DESIGN,
        edit(ADAPTER, 'return "sent"', 'return "sent" ('),
        f"{ADAPTER}:27: isn't Python",
    ),
    "another file of an adapter that is no Python": (
        DESIGN,
        write("adapter/more.py", "\ndef more(:\n"),
        "adapter/more.py:2: isn't Python",
    ),
    "an adapter without its class": (
        DESIGN,
        edit(ADAPTER, "class Subject:", "class Accounts:"),
        f"{ADAPTER}:1: has no class Subject(clock) with a method for each operation of vocabulary.yaml",
    ),
    "an adapter without a clock": (
        DESIGN,
        edit(ADAPTER, "def __init__(self, clock):\n        self.clock = clock\n", "def __init__(self):\n"),
        f"{ADAPTER}:11: Subject.__init__ is called with a clock: too many positional arguments",
    ),
    "an adapter that lacks an operation": (
        DESIGN,
        edit(ADAPTER, "def sign_in(", "def signs_in("),
        f"{ADAPTER}:10: Subject has no method sign_in, which is called with email, password",
    ),
    "an operation that lacks a field": (
        DESIGN,
        edit(ADAPTER, "def ask(self, email, link)", "def ask(self, email, name)"),
        f"{ADAPTER}:21: Subject.ask is called with email, link: missing a required argument: 'name'",
    ),
    "a field that cases may leave out": (
        DESIGN,
        edit(
            "vocabulary.yaml",
            "email: {type: text, max: 60}\n      link:",
            "email: {type: text, max: 60, optional: true}\n      link:",
        ),
        f"{ADAPTER}:21: Subject.ask is called with email (may be left out), link: missing a required",
    ),
    "a class that no module has": (
        DESIGN,
        edit(ADAPTER, "class Subject:", "def made():\n    Subject = 3\n    return Subject\n\n\nclass Accounts:"),
        f"{ADAPTER}:1: has no class Subject(clock) with a method for each operation of vocabulary.yaml",
    ),
    "no adapter": (DESIGN, remove("adapter"), f"{ADAPTER}: the adapter needs it, and it isn't there"),
    "an unknown frame": (
        DESIGN,
        edit("design.yaml", "silences:", "frame: rust\nsilences:"),
        "design.yaml:2: frame: unknown frame 'rust'; known: python, own",
    ),
    "no reference": (DESIGN, remove("reference"), "reference/cases.yaml: No such file"),
    "a reference that is no YAML": (
        DESIGN,
        write("reference/cases.yaml", "- {"),
        "reference/cases.yaml:1: not YAML",
    ),
    "no neighbours": (DESIGN, remove("neighbours.yaml"), "neighbours.yaml: No such file"),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_of_a_file_is_one_line_with_its_place(tmp_path: Path, defect: str) -> None:
    name, plant, told = DEFECTS[defect]
    task = copied(tmp_path, name, plant)
    [found] = errors(task, name, Catalog(tmp_path))
    assert found.startswith(told)


@pytest.mark.parametrize("name", [DESIGN, BASED])
def test_a_copy_of_a_design_is_in_order(tmp_path: Path, name: str) -> None:
    task = copied(tmp_path, name)
    assert errors(task, name, Catalog(tmp_path)) == []


@pytest.mark.parametrize(
    "text",
    [
        "from shop import Subject\n",
        "from shop import *\n",
        "class Subject(Shop):\n    pass\n",
        "class Subject:\n    def __getattr__(self, name): ...\n    def __init__(self, *clocks): ...\n",
        "class Subject:\n    def __init__(self, clock=None): ...\n    def account(self, **told): ...\n"
        "    def ask(self, *, email, link): ...\n    reset = sign_in = account\n",
        "class Subject:\n    def __new__(cls, clock): ...\n    def account(self, **told): ...\n"
        "    ask = reset = sign_in = account\n",
        ALL_BUT_ASK + "    if True:\n        def ask(self, email, link): ...\n",
        ALL_BUT_ASK + "Subject.ask = Subject.account\n",
        ALL_BUT_ASK + "Subject = more(Subject)\n",
        ALL_BUT_ASK + "    def more(self): self.ask = self.account\n",
        ALL_BUT_ASK + "setattr(Subject, 'ask', Subject.account)\n",
        ALL_BUT_ASK + "    def __getattribute__(self, name): ...\n",
        "try:\n    from shop import Subject\nexcept ImportError:\n    from shops import Subject\n",
    ],
)
def test_an_adapter_may_be_written_in_another_way(tmp_path: Path, text: str) -> None:
    task = copied(tmp_path, DESIGN, write(ADAPTER, text))
    assert not [each for each in errors(task, DESIGN, Catalog(tmp_path)) if each.startswith("adapter/")]


def test_the_command_says_it_in_one_line_with_status_1(tmp_path: Path) -> None:
    copied(tmp_path, DESIGN, edit(ADAPTER, "class Subject:", "class Accounts:"))
    done = typed("--catalog", tmp_path, "task", "check", DESIGN, "--quick", cwd=tmp_path)
    told = done.output + done.complaint
    assert done.status == 1
    assert len([row for row in told.splitlines() if f"{DESIGN}/{ADAPTER}:1: " in row]) == 1
    assert "Traceback" not in told
