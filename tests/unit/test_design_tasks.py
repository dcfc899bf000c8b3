"""Design tasks: what their files may say, what their check finds, and those that are shipped."""

import pytest

from harness.authoring.task_check.subject import Subject
from harness.plugins.design.check import STATIC, neighbours_problems, nop_problems, reference_problems
from harness.plugins.design.design_file import MutantKind
from harness.plugins.design.figures import figures_of
from harness.plugins.design.images import agent_files
from harness.plugins.design.reasons import CASE_UNREADABLE
from harness.plugins.design.task import load_design
from harness.plugins.design.task_files import files_problems, prompt_problems
from harness.specs.errors import UserError
from harness.specs.reasons import Verdict
from harness.specs.rubric import GradedBy, Importance
from harness.specs.tracks import TaskOptions
from tests.support.corpora import TASKS
from tests.support.designs import CATALOG, handed_in, judged, page_task, shipped, subject_of

SHIPPED = sorted(task.id for task in TASKS if task.track == "design")
PLAYED_HERE = [name for name in SHIPPED if shipped(name).base is None]
"""Those whose implementation the adapter of Python can play without a container."""


def change(directory, file, old, new):
    """Change one text of the task of docs/design.md, and load it anew."""
    page_task(directory)
    path = directory / "tasks" / "parcel" / file
    text = path.read_text()
    assert text.count(old) >= 1
    path.write_text(text.replace(old, new, 1))
    return load_design(path.parents[len(file.split("/")) - 1], CATALOG, TaskOptions())


def messages(problems):
    return [f"{problem.where}: {problem.message}" for problem in problems]


async def test_the_task_of_the_page_passes_its_check_and_its_design_fails_as_the_page_says(tmp_path):
    task = page_task(tmp_path)
    subject = await subject_of(task, tmp_path)
    for part in (*STATIC.values(), reference_problems, neighbours_problems, nop_problems):
        assert messages(await part(subject)) == []
    data = (tmp_path / "tasks" / "parcel" / "handed-in.yaml").read_bytes()
    record = await judged(task, handed_in(task, data), tmp_path)
    assert [(str(reason.code), reason.subject.rpartition("::")[2]) for reason in record.reasons] == [
        ("over-specified", "TC-2"),
        ("case-wrong", "TC-3"),
        *(("criterion-unmet", rule) for rule in ("1.1", "1.2", "1.3")),
    ]
    figures = figures_of(record)
    assert figures is not None
    assert {name for name, cases in figures.killed.items() if cases} == {"1.3-partition-never"}


async def test_rules_are_must_haves_that_mutants_decide(tmp_path):
    task = page_task(tmp_path)
    assert [(item.id, item.importance, item.graded_by) for item in task.rubric.criteria] == [
        (rule, Importance.MUST, (GradedBy.PROBE,)) for rule in ("1.1", "1.2", "1.3")
    ]
    assert len(task.probes) == 10
    assert [len(task.mutants(kind)) for kind in MutantKind] == [4, 4, 2]


def test_agents_see_requirement_vocabulary_and_validator(tmp_path):
    files = agent_files(page_task(tmp_path))
    assert set(files) == {"requirement.md", "vocabulary.yaml", "validate.pyz", "design/.gitkeep"}
    assert not any(b"grams > 2000" in data for data in files.values())


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        (
            "requirement.md",
            "**1.3**",
            "**2.3**",
            "requirement.md:9: a rule is numbered 1.1 to 1.99, this one is '2.3'",
        ),
        ("requirement.md", "**1.3**", "**1.2**", "requirement.md:9: rule 1.2 is there already"),
        ("requirement.md", "**1.3**", "**1.4**", "design.yaml:13: requirement.md has no rule 1.3"),
        ("requirement.md", "**1.1** A parcel", "**1.1** x\n\nA parcel", "requirement.md:5: rule 1.1 says nothing"),
        (
            "design.yaml",
            "1.3-partition-never",
            "1.3-pair-never",
            "rule 1.3 has no mutant 1.3-partition-NAME in design",
        ),
        ("design.yaml", "1.3-partition-never", "1.3-partition_never", "design.yaml"),
        ("design.yaml", "1.3-pair-member", "1.3-partition-never", "mutants: 1.3-partition-never is there twice"),
        ("design.yaml", "neighbours: [G1999, G2001]", "neighbours: [G1999]", "names two 'neighbours' or more"),
        ("design.yaml", "1.1-boundary-under", "1.1-pair-under", "only a mutant of a boundary has 'neighbours'"),
        ("design.yaml", 'find: "900 if", put: "500 if"', 'probe: "1.1"', "mutants: a probe needs the key 'base'"),
        ("design.yaml", 'find: "900 if", put: "500 if"', 'put: "500 if"', "either 'find' and 'put', or a 'probe'"),
        (
            "design.yaml",
            "schema_version: 1",
            "schema_version: 1\nbase: gone",
            "design.yaml:2: base: there is no task",
        ),
        ("vocabulary.yaml", "{grams} grams", "a number of grams", "step: it has no place for the field 'grams'"),
        ("vocabulary.yaml", "{grams} grams", "{grams} grams {x}", "step: {x} is no field; known: grams"),
        ("vocabulary.yaml", "min: -1, max: 100000", "min: 1", "has 'min' and 'max', the smaller first"),
        (
            "vocabulary.yaml",
            "type: choice, of: [too-heavy, nothing]",
            "type: choice",
            "and no other, has the key 'of'",
        ),
        ("vocabulary.yaml", "    step: a parcel", "    in: [given]\n    step: a parcel", "none may stand in 'when'"),
    ],
)
def test_a_file_that_is_wrong_is_told_with_its_place(tmp_path, file, old, new, told):
    with pytest.raises(UserError) as error:
        change(tmp_path, file, old, new)
    assert told in str(error.value)
    assert str(error.value).startswith(str(tmp_path))


@pytest.mark.parametrize(
    ("file", "old", "new", "part", "told"),
    [
        (
            "neighbours.yaml",
            "- {id: G1999,",
            "- {id: G1998,",
            files_problems,
            "tasks/parcel/design.yaml:7: 1.1-boundary-under: neighbours.yaml has no case 'G1999'",
        ),
        (
            "requirement.md",
            "each office decides.",
            "each office decides: whether a parcel may weigh nothing.",
            prompt_problems,
            "tasks/parcel/requirement.md:3: it has the words of design.yaml: 'whether a parcel may weigh nothing'",
        ),
        (
            "reference/cases.yaml",
            "grams: 2001",
            "grams: 2002",
            reference_problems,
            "tasks/parcel/design.yaml:8: 1.1-boundary-over: no case of reference/cases.yaml kills it",
        ),
        (
            "reference/cases.yaml",
            "cents: 900",
            "cents: 901",
            reference_problems,
            "tasks/parcel/reference/cases.yaml:2: case-wrong: it expects what the requirement doesn't: no correct",
        ),
        (
            "design.yaml",
            'put: "grams > 1999 else", neighbours: [G1999, G2001]',
            'put: "grams > 1998 else", neighbours: [G1999, G2001]',
            neighbours_problems,
            "tasks/parcel/design.yaml:7: 1.1-boundary-under: G1999, a value beside the edge, kills it; only the edge",
        ),
        (
            "neighbours.yaml",
            "grams: 1999}, then: {outcome: priced, cents: 500}",
            "grams: 1999}, then: {outcome: priced, cents: 501}",
            neighbours_problems,
            "tasks/parcel/neighbours.yaml:1: G1999 must hold on every correct implementation; baseline fails it",
        ),
    ],
)
async def test_the_check_finds(tmp_path, file, old, new, part, told):
    task = change(tmp_path, file, old, new)
    found = messages(await part(await subject_of(task, tmp_path)))
    assert any(message.startswith(told) for message in found), found


async def test_operations_that_no_case_uses_are_a_warning(tmp_path):
    task = change(tmp_path, "vocabulary.yaml", "outcomes:", "  wait: {means: One waits., step: one waits}\noutcomes:")
    [problem] = await prompt_problems(await subject_of(task, tmp_path))
    assert (problem.severity, problem.message) == ("warning", "no case of reference/cases.yaml uses 'wait'")


async def test_a_change_that_fits_nothing_is_told_with_its_line(tmp_path):
    task = change(tmp_path, "design.yaml", "900 if", "901 if")
    with pytest.raises(UserError, match=r"design\.yaml:9: testwright_design/subject\.py has '901 if' 0 times"):
        await reference_problems(await subject_of(task, tmp_path))


async def test_an_adapter_without_an_implementation_is_told(tmp_path):
    task = page_task(tmp_path)
    (task.directory / "adapter" / "subject.py").unlink()
    told = "tasks/parcel/adapter/subject.py: the adapter needs it, and it isn't there"
    assert messages(await files_problems(await subject_of(task, tmp_path))) == [told]


@pytest.mark.parametrize("name", SHIPPED)
async def test_a_shipped_design_has_partitions_and_pairs_and_its_files_are_whole(name):
    task = shipped(name)
    subject = Subject(CATALOG, task)
    assert task.mutants(MutantKind.PARTITION)
    assert task.mutants(MutantKind.PAIR)
    assert len(task.cases("reference/cases.yaml")) <= 40
    assert messages([problem for part in STATIC.values() for problem in await part(subject)]) == []


@pytest.mark.dear("plays a design on some fifty implementations, in this process")
@pytest.mark.parametrize("name", PLAYED_HERE)
async def test_a_shipped_reference_kills_all_and_values_beside_edges_miss(name, tmp_path):
    subject = await subject_of(shipped(name), tmp_path)
    assert messages([*await reference_problems(subject), *await neighbours_problems(subject)]) == []


async def test_nothing_handed_in_fails(tmp_path):
    task = page_task(tmp_path)
    record = await judged(task, handed_in(task, b""), tmp_path)
    assert record.verdict is Verdict.FAILED
    assert [reason.code for reason in record.reasons] == [CASE_UNREADABLE]
