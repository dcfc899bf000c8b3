"""Explanations of each part of the check: its demand, the reason, and the remedy where it fails."""

from collections.abc import Mapping
from typing import NamedTuple

from harness.specs.task_facts import StepId
from harness.specs.tracks import BEHAVIOUR, address_of


class Explanation(NamedTuple):
    """An explanation of a part of the check. `mend` names commands of testwright with TASK for the task's id."""

    demands: str
    why: str
    mend: str


EXPLAINED: Mapping[StepId, Explanation] = {
    StepId.CHECK: Explanation(
        "The check itself comes to its end.",
        "It has met something that nobody foresaw; the task may be right.",
        "testwright task check TASK again; where that fails too, testwright doctor, then report the message.",
    ),
    StepId.SCHEMA: Explanation(
        "Each file of the task can be read: keys and values are those that its format has, and names that files say"
        " of each other are there.",
        "Nobody can load the task otherwise; nothing else of it is checked before.",
        "Change the line that the message names; docs/schemas has every key of every format, docs/tasks.md what it is"
        " for.",
    ),
    StepId.TREE: Explanation(
        "The tree that agents get can be made: the release is there, and what is withheld can be taken out of it.",
        "Every other patch of the task lies upon that tree.",
        "Where a patch doesn't apply, make it anew: testwright task edit TASK withheld --anew. Else testwright doctor"
        " says what this machine lacks.",
    ),
    StepId.IMAGE_PRESENT: Explanation(
        "The task's image is there, or can be made.",
        "Tests run in it.",
        "testwright repo build makes it and shows what fails; testwright doctor says whether there is an engine.",
    ),
    StepId.FILES: Explanation(
        "Every file of a task is there, nothing else, and task.yaml has a canary of its own.",
        "The digest covers every file: one that belongs to nothing would make results incomparable. A"
        " canary shows when"
        " a task has leaked into training data.",
        "docs/tasks.md says what each file is for; testwright task check TASK --fix writes what can be derived.",
    ),
    StepId.RUBRIC: Explanation(
        "6 to 15 must-haves, each with a probe or a static check, and 4 to 10 others; each is one statement that a"
        " stranger can answer with yes or no. A task on a stage needs no others, and with a constraint 4 must-haves.",
        "A verdict says which criteria are unmet. A statement with two halves or a vague word can be met by half.",
        "Split the statement, or say what exactly a test must find; then testwright task edit TASK probes/1.4.",
    ),
    StepId.STATEMENTS: Explanation(
        "A model that is asked finds no difference between a criterion's statement and its probe or static check, and"
        " no must-have that the prompt doesn't ask for.",
        "Agents are told verdicts in the statement's words, and graded by the probe; they know the prompt alone.",
        "Its answers are warnings: read the example, then reword statement or prompt, or change the probe.",
    ),
    StepId.PROMPT: Explanation(
        "200 to 4000 characters that name no function which the removal takes out.",
        "Finding the code is part of the work, and a name would lead straight to what is probed.",
        "Say it as a colleague would: what users do and what they were bitten by.",
    ),
    StepId.PATCHES: Explanation(
        "Each patch applies to its tree and can be taken back; removals, placebo and probes change"
        " production code that"
        " is there; no two make the same code. Edits on a stage and changes of a design fit one place each.",
        "Two variants of one code would count one finding twice, or let a twin be a probe.",
        "testwright task edit TASK PART --anew starts a part again from the task's tree.",
    ),
    StepId.TWINS: Explanation(
        "Each probe has a twin of its place and size; there are garbage.patch, placebo.patch, and half of the probes"
        " upon the placebo. On a stage each page of pages.py is the same to a screen reader where markup differs.",
        "A suite that only looks whether code has changed must fail. It can't where changed code that"
        " behaves the same"
        " looks like a probe.",
        "testwright task edit TASK twins/1.4: the same lines, written so that they do the same.",
    ),
    StepId.REFERENCE_FILES: Explanation(
        "The manifest lists what the reference adds; covers.yaml has every test, knows every criterion and leaves no"
        " probe's criterion without a test.",
        "The reference shows that the task can be done, and covers.yaml which test is for what.",
        "testwright task matrix TASK --reference --fix writes both from what it sees.",
    ),
    StepId.HONEST_SUITES_PRESENT: Explanation(
        "Two suites that are good enough and two that aren't, each with an expect.yaml.",
        "Only work by others than the probes' author shows that the task lets honest work through.",
        "testwright task edit TASK honest/NAME, then testwright task matrix TASK --fix for the manifests."
        " Their author"
        " should see the prompt and the tree, and nothing else of the task.",
    ),
    StepId.IMAGE: Explanation(
        "No layer of the task's image has anything of the withheld tests.",
        "An agent could copy them.",
        "Look for copies that the build keeps: a package's own tests, caches, archives; remove them in the"
        " Dockerfile.",
    ),
    StepId.OTHER_COPIES: Explanation(
        "No file outside the tree has the names and texts of what the removal takes out.",
        "A test could ask the other copy what is right, and so notice every change without knowing anything.",
        "Name it under arms: hidden: in repo.yaml where no test needs it, else replace it in the Dockerfile.",
    ),
    StepId.AGENT_VIEW: Explanation(
        "Nothing that an agent sees or reads holds a line of rubric, removal, probes, reference or withheld tests.",
        "It would be told what is probed.",
        "Reword the prompt where it quotes one; else find the file that the message names in the image.",
    ),
    StepId.REFERENCE: Explanation(
        "The reference, judged three times, is resolved each time; every probe is noticed, no twin; without the tests"
        " for a criterion one of its probes survives.",
        "A task that its own reference doesn't solve can't be solved, and a criterion whose probe other tests notice"
        " in any case measures nothing of its own.",
        "testwright task matrix TASK --reference shows which test notices what. A criterion that overlaps in any case"
        " says why in covers.yaml: overlaps.",
    ),
    StepId.REFERENCE_ONCE: Explanation(
        "The reference, judged once, is resolved.",
        "As above, in the brief check.",
        "testwright task matrix TASK --reference.",
    ),
    StepId.NOP: Explanation(
        "A submission of nothing is failed.",
        "Else every agent would resolve the task.",
        "It fails for empty-submission; where it doesn't, the task's tree can't be judged: run testwright doctor.",
    ),
    StepId.WORTHLESS_SUBMISSIONS: Explanation(
        "The removal itself, prose, the reference without a manifest and a test that asserts nothing are failed.",
        "Each is what a bad agent hands in.",
        "Where a test that asserts nothing passes, some probe or removal breaks the import: make it milder.",
    ),
    StepId.HONEST_SUITES: Explanation(
        "Each honest suite comes to what its expect.yaml says.",
        "A good suite that is refused shows a task that asks for one way of working; a lazy one that is resolved, a"
        " task that asks for too little.",
        "survived-removal: what garbage.patch gives is too close to what is right for some test, or that test doesn't"
        " need the behaviour; look at removal.patch and garbage.patch. criterion-unmet: the"
        " prompt doesn't ask for it, or its probe is too narrow. placebo-sensitive: a twin changes behaviour.",
    ),
    StepId.FUZZ: Explanation(
        "On drawn inputs twins, placebo and rewritings answer as pristine code does; neither removal gives any of its"
        " answers; garbage gives another one each time.",
        "Suites find only those differences that somebody thought of.",
        "Take the input and seed of the message into fuzz/FILE, and see which of the two answers is right.",
    ),
    StepId.ACCEPTANCE: Explanation(
        "The hidden tests of acceptance pass on each reference, ten times out of ten.",
        "A test that fails by chance costs an honest application its verdict.",
        "Let the test wait for what it looks at, and for no time; give each test names of its own.",
    ),
    StepId.ALTERNATIVE_FIXES: Explanation(
        "Of a bug: the test of the reported input fails on the fault alone, and the reference on each partial fix;"
        " upstream's tests pass on the fix and on each alternative, and those that agents have on the fault too.",
        "A partial fix that mends all, or an alternative that mends less, refuses honest work; a test that is still"
        " there shows the fault to everybody.",
        "docs/bug.md says how the patches are made; where a test that agents have notices the fault, testwright task"
        " bug with another probe.",
    ),
    StepId.WRONG_FIX: Explanation(
        "Of a bug: each test of the reference, and that of the reported input, fails by an assertion, an exception or"
        " a crash where something else is wrong in the place of the fault.",
        "Else honest tests would be refused for passing there, or no test could show by it what it asks for.",
        "Write wrong.patch, from the agent's tree to code without this fault that answers wrongly all the same"
        " (docs/bug.md).",
    ),
    StepId.CONVENTIONS: Explanation(
        "Half of upstream's tests meet each nice-to-have of the axes 3 and 4 that code decides: of all of them, of"
        " the withheld ones, or of those at a place that a criterion of axis 2 names; upstream has tests there.",
        "An agent can only keep to conventions that it finds in the tree.",
        "Ask for what most of the tests beside the behaviour do, or make it a criterion of technique (axis 5) where"
        " the request calls for it.",
    ),
    StepId.UPSTREAM_TESTS: Explanation(
        "None of upstream's remaining tests notices a probe. It is a warning.",
        "An agent may copy a test that is still there.",
        "testwright task edit TASK withheld: take that test out too, or move the probe to what it doesn't reach.",
    ),
    StepId.MUTANTS: Explanation(
        "Each mutant of the removed code that a test of the reference or of an honest suite kills is asked for: a"
        " probe of a must-have changes one of its lines, or each known test that notices the probe kills the mutant"
        " too. It is a warning.",
        "A suite can meet every must-have and miss that mistake.",
        "testwright task probe TASK --criterion 1.4 --take MUTANT makes it a probe of a criterion that says so; where"
        " nobody would mind the mistake, leave it.",
    ),
    StepId.NEIGHBOURS: Explanation(
        "Of a design: a value beside the edge is right on the requirement's own code, and notices no mutant of a"
        " boundary.",
        "Else cases that miss the edge would show the boundary too, and count for it.",
        "Move the value further from the edge, or the mutant (docs/design.md).",
    ),
    StepId.DIGEST: Explanation(
        "The task's files don't change while they are checked.",
        "Else nobody knows what was checked.",
        "testwright task check TASK again.",
    ),
    StepId.CHECK_RECORD: Explanation(
        "docs/check-records has a record of the full check of this very task, on this image, by this version.",
        "It shows that somebody has run the whole check since the last change.",
        'make check-tasks only="TASK"',
    ),
}


_OF_BEHAVIOUR = ("task edit", "task matrix", "task probe")
"""Commands that know the parts of such tasks alone."""


def explained(step: StepId, task: str) -> str:
    """Return the explanation in four lines."""
    if step not in EXPLAINED:
        return f"{step.label}: a part of checks of published tasks; see docs/swe-atlas.md"
    found = EXPLAINED[step]
    mend = found.mend.replace("TASK", task) if task else found.mend
    if task and address_of(task) and any(command in mend for command in _OF_BEHAVIOUR):
        mend = f"Change its files by hand: {', '.join(_OF_BEHAVIOUR)} are for whole tasks of the track {BEHAVIOUR}."
    return f"{step.label}\n  demands: {found.demands}\n  why: {found.why}\n  to mend it: {mend}"
