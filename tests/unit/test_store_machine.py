"""A state machine drives a run's store: begin, work, hand in, judge, crash, tear a file, resume, a second runner.

What must hold at every moment: money that was spent stays counted, finished work is found again, a torn file is
never taken for a whole one, and of two runners one is refused.
"""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.strategies import sampled_from

from harness.agents.trajectory import Ending, EndRecord, Trajectory
from harness.judging.submission.extraction import Submission
from harness.models.protocol import Message, MessageRole
from harness.models.replay import MessageRecord
from harness.runs.finished_work import AgentFile
from harness.runs.store import RunStore, find_trials, spent_in
from harness.runs.trial_store import TrialFile, TrialStore
from harness.specs.errors import UserError
from harness.specs.usage import Usage
from tests.support.run_folder import run_folder, verdict

CENT = Usage(calls=1, cost_usd=0.01)
TEARABLE = ("trial.json", "agent.json", "verdict.json", "usage.json")


class StoreMachine(RuleBasedStateMachine):
    """The model beside it: what has been paid, and how far the attempt that counts has come."""

    def __init__(self) -> None:
        super().__init__()
        self.scratch = Path(tempfile.mkdtemp(prefix="testwright-"))
        self.run = run_folder(self.scratch / "run")
        self.cents = 0
        self.steps = 0
        self.is_begun = self.has_agent = self.has_verdict = False
        self.identity = "0"
        self.torn: set[str] = set()

    def teardown(self) -> None:
        shutil.rmtree(self.scratch)

    @property
    def store(self) -> TrialStore:
        """A new one each time, as after a crash: nothing is known but the files."""
        return TrialStore(self.run / "trials" / "task" / "mini" / "none" / "1")

    @initialize()
    def first_start(self) -> None:
        self.begin()

    @rule()
    def begin(self) -> None:
        """Also a resume: what was cut or belongs to something else is set aside, finished work stays."""
        facts = {"task": "task", "scaffold": "mini", "model": "", "attempt": 1, "isolation": "docker"}
        self.store.begin(TrialFile(identity=self.identity, **facts))
        self.is_begun = True
        self.torn.discard("trial.json")
        if not self.has_agent:
            self.steps = 0

    @precondition(lambda self: self.is_begun and not self.has_agent and not self.steps)
    @rule()
    def work(self) -> None:
        """A step that is paid; the process may be dead after it."""
        with Trajectory(self.store.trajectory) as records:
            message = Message(role=MessageRole.ASSISTANT, content="I work.")
            records.add(MessageRecord(step=1, message=message, usage=CENT))
            records.add(EndRecord(ending=Ending.SUBMITTED, steps=1, usage=CENT))
        self.steps, self.cents = 1, self.cents + 1

    @precondition(lambda self: self.steps and not self.has_agent)
    @rule()
    def hand_in(self) -> None:
        agent = AgentFile(identity=self.identity, ending="submitted", steps=1, usage=CENT, seconds=1)
        self.store.keep_submission(Submission(b"diff", b"[]"), agent)
        self.has_agent = True
        self.torn.discard("agent.json")

    @precondition(lambda self: self.has_agent and "trial.json" not in self.torn)
    @rule()
    def judge(self) -> None:
        store = self.store
        store.keep_usage(store.usage())
        (store.directory / "verdict.json").write_text(verdict(store).to_json())
        self.has_verdict = True
        self.torn -= {"usage.json", "verdict.json"}

    @precondition(lambda self: self.has_agent and not self.torn)
    @rule(name=sampled_from(TEARABLE))
    def tear(self, name: str) -> None:
        path = self.store.directory / name
        if path.exists():
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
            self.torn.add(name)

    @precondition(lambda self: self.is_begun and not self.torn)
    @rule()
    def change_what_counts(self) -> None:
        """The next start finds another identity, and does everything again."""
        self.identity = str(int(self.identity) + 1)
        self.has_agent = self.has_verdict = False
        self.begin()
        self.steps = 0

    @rule()
    def second_runner(self) -> None:
        first = RunStore(self.run)
        try:
            with pytest.raises(UserError, match="another testwright is at work here"):
                RunStore(self.run)
        finally:
            first.close()

    @invariant()
    def money_stays_counted(self) -> None:
        if "agent.json" not in self.torn or "trial.json" not in self.torn:
            assert spent_in(self.run).cost_usd == pytest.approx(self.cents / 100)

    @invariant()
    def finished_work_is_found(self) -> None:
        if self.is_begun and self.has_agent:
            assert self.store.agent() is not None
            assert self.store.identity() == self.identity
            assert self.store.submission().patch == b"diff"

    @invariant()
    def a_torn_file_is_told_and_not_read(self) -> None:
        if self.is_begun:
            assert set(self.store.damaged()) == self.torn
        if self.has_verdict and "verdict.json" not in self.torn:
            assert self.store.verdict() is not None
        if "verdict.json" in self.torn:
            assert self.store.verdict() is None

    @invariant()
    def there_is_one_trial(self) -> None:
        assert len(list(find_trials(self.run))) == int(self.is_begun)


TestStore = StoreMachine.TestCase
TestStore.settings = settings(
    max_examples=15, stateful_step_count=12, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
