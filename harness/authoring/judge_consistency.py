"""`testwright task lint --consistency`: several judges grade known suites, and criteria on which that fails are told.

The suites are the reference, two honest ones that are good enough and two that aren't. No container is started: what
probes and static checks say of them is in their `expect.yaml`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from harness.authoring.task_check.honest_corpus import cases_of
from harness.authoring.task_check.subject import Subject, kept_tree, place
from harness.judging.languages.registry import language_of
from harness.judging.submission.extraction import Submission
from harness.judging.submission.manifest import ManifestError, listed_tests
from harness.judging.verify.examination import called_by, listed_texts
from harness.judging.verify.intake import ingest
from harness.judging.verify.judge.judge import Judge, JudgeReport
from harness.judging.verify.judge.questions import Answer, Brief, Question
from harness.models.allowance import Spending
from harness.runs.concurrency import run_to_end
from harness.sandbox.git_tree import GitTree
from harness.specs.authoring_facts import MET, REFERENCE, UNMET, Ballot, Consistency, ConsistencyFinding, flaws
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.reasons import Verdict
from harness.specs.rubric import Criterion, Importance
from harness.specs.task import Task

OF_EACH = 2


@dataclass(frozen=True)
class KnownSuite:
    """A suite. One that is good enough meets every must-have; of a lazy one those are known that it leaves open."""

    name: str
    submission: Submission
    is_enough: bool = True
    unmet: frozenset[str] = frozenset()


def judge_consistency(
    catalog: Catalog, name: str, judges: Sequence[Judge], votes: int, tell: Callable[[str], None]
) -> Consistency:
    """Ask every judge every criterion of every suite of a task.

    Args:
        catalog: Where the task lies.
        name: The task's.
        judges: Whom to ask.
        votes: How often each is asked the same.
        tell: Told of each step.

    Raises:
        UserError: The task or a suite can't be read, a judge is named twice, or one vote of one judge is asked for;
            nobody is asked then.
    """
    if len(judges) * votes < 2:
        raise UserError("one vote of one judge can't disagree; name another --judge, or take --votes 3")
    named = [judge.identity.model for judge in judges]
    if twice := next((model for model in named if named.count(model) > 1), ""):
        raise UserError(f"--judge {twice}: is named twice; take --votes for more votes of one")
    task = catalog.task(name)
    return run_to_end(_judge_consistency(Subject(catalog.holding(task), task), judges, votes, tell))


async def _judge_consistency(
    subject: Subject, judges: Sequence[Judge], votes: int, tell: Callable[[str], None]
) -> Consistency:
    task, suites = subject.task, _suites(subject)
    questions = tuple(
        Question(item.id, item.statement, votes, of_absence=item.is_of_absence) for item in task.rubric.criteria
    )
    async with kept_tree(task) as tree:
        if tree is None:
            raise UserError(f"{task.id}: this machine has no tree of the repository yet; testwright repo build")
        briefs = {suite.name: await _brief(task, tree, suite, questions) for suite in suites}
    calls = len(suites) * len(judges) * (len(questions) * votes + 2)
    tell(f"{task.id}: {len(judges)} judges, {len(suites)} suites, {len(questions)} criteria: {calls} calls at most")
    spent, ballots, faults = Spending(), list[Ballot](), list[str]()
    for judge in judges:
        for suite in suites:
            tell(f"{task.id}: {judge.identity.model} on {suite.name}")
            judging = await judge.ask(briefs[suite.name], spent)
            if judging.void:
                faults.append(f"{judge.identity.model} on {suite.name}: {judging.void}")
                continue
            ballots += _ballots(task, judge, suite, judging)
    return Consistency(
        task=task.id,
        judges=tuple(judge.identity.model for judge in judges),
        suites=tuple(suite.name for suite in suites),
        findings=tuple(_findings(subject, ballots)),
        faults=tuple(faults),
        ballots=tuple(ballots),
        calls=spent.usage.calls,
        cost_usd=spent.usage.cost_usd,
    )


def _suites(subject: Subject) -> list[KnownSuite]:
    """Return the reference, then the good ones, then the lazy ones. Raises UserError where there are no lazy ones."""
    task = subject.task
    reference = Submission(task.patch("reference/tests.patch"), task.patch("reference/manifest.yaml"))
    found = [KnownSuite(REFERENCE, reference)]
    cases = cases_of(subject)
    for verdict in (Verdict.RESOLVED, Verdict.FAILED):
        known = [case for case in cases if case.submission and case.expected and case.expected.verdict is verdict]
        if verdict is Verdict.FAILED and len(known) < OF_EACH:
            words = f"{len(known)} honest suites that aren't good enough, and {OF_EACH} are needed"
            raise UserError(f"{task.id}: {words}; testwright task edit {task.id} honest/NAME")
        found += [
            KnownSuite(case.name, case.submission, verdict is Verdict.RESOLVED, frozenset(case.expected.criteria))
            for case in known[:OF_EACH]
            if case.submission and case.expected
        ]
    return found


async def _brief(task: Task, tree: GitTree, suite: KnownSuite, questions: tuple[Question, ...]) -> Brief:
    discovery = language_of(task.repo).discovery
    intake = await ingest(tree, task.repo, suite.submission.patch)
    if intake.reasons:
        raise UserError(f"{task.id}: {suite.name}: {intake.reasons[0].words}")
    try:
        tests = listed_tests(suite.submission.manifest, language_of(task.repo).ids).tests
    except ManifestError as error:
        raise UserError(f"{task.id}: {suite.name}: its manifest: {error}") from None
    texts = listed_texts(discovery, intake.changes, tests)
    return Brief(task.objective, intake.patch, texts, questions, called_by(discovery, texts.values()))


def _ballots(task: Task, judge: Judge, suite: KnownSuite, judging: JudgeReport) -> Iterator[Ballot]:
    for criterion in task.rubric.criteria:
        votes: dict[str, int] = defaultdict(int)
        for vote in judging.votes:
            if vote.question == criterion.id:
                votes[_said(criterion, vote.counted)] += 1
        yield Ballot(
            judge=judge.identity.model,
            suite=suite.name,
            criterion=criterion.id,
            votes=dict(votes),
            expected=_expected(criterion, suite),
        )


def _said(criterion: Criterion, answer: Answer | None) -> str:
    """Return what a vote means for the criterion; a negative one is met where its statement is false."""
    if answer is None:
        return "no answer"
    if criterion.negative and answer is not Answer.CANNOT_TELL:
        return UNMET if answer is Answer.MET else MET
    return answer.value


def _expected(criterion: Criterion, suite: KnownSuite) -> bool | None:
    """Return what probes or code say.

    Returns:
        None where a judge alone decides, and where `expect.yaml` says nothing of it.
    """
    if criterion.importance is not Importance.MUST or not criterion.decided_without_judge:
        return None
    if criterion.id in suite.unmet:
        return False
    return True if suite.is_enough else None


def _findings(subject: Subject, ballots: Sequence[Ballot]) -> Iterator[ConsistencyFinding]:
    by_case: dict[tuple[str, str], list[Ballot]] = defaultdict(list)
    for ballot in ballots:
        by_case[ballot.criterion, ballot.suite].append(ballot)
    for criterion in subject.task.rubric.criteria:
        where = place(subject.catalog, subject.rubric, criterion.statement)
        for (name, suite), cast in by_case.items():
            if name == criterion.id:
                for flaw, words in flaws(cast):
                    yield ConsistencyFinding(
                        criterion=name,
                        importance=criterion.importance,
                        flaw=flaw,
                        suite=suite,
                        words=words,
                        where=where,
                    )
