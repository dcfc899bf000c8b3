"""An observer of arms that keeps what they print."""

from harness.judging.verify.arms import ArmObserver
from harness.sandbox.protocol import JobResult
from harness.specs.variants import ArmKey


class HeardArms(ArmObserver):
    """`results` are what the containers of arms left, by the arm's name, in the order of their ends."""

    def __init__(self) -> None:
        self.results: dict[str, JobResult] = {}

    def printed(self, key: ArmKey, result: JobResult) -> None:
        self.results[str(key)] = result
