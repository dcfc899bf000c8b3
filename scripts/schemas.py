"""Writes docs/schemas/: JSON Schemas of every file format, from the models that read them.

usage: schemas.py [--check]     --check: change nothing, status 1 where one differs
"""

import json
import sys
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from harness.agents.trajectory import Record
from harness.authoring.bundles import Bundle
from harness.authoring.suite_scores import SuiteScores
from harness.authoring.task_check.controls import CheckRecord
from harness.authoring.task_check.same_images import SameImages
from harness.judging.verify.judge.replies import Vote
from harness.judging.verify.mutants.records import MutantsFile
from harness.judging.verify.verdict import VerdictRecord
from harness.models.replay import MessageScript
from harness.plugins.browser.arms_file import ArmsFile
from harness.plugins.browser.task import Stable
from harness.plugins.bug.task import BugFile, HiddenTests
from harness.plugins.design.design_file import DesignFile
from harness.plugins.design.vocabulary import Vocabulary
from harness.plugins.names.findings import NamesFile
from harness.plugins.points.score import ScoreFile
from harness.plugins.points.scoring_file import Scoring
from harness.plugins.scripted_provider.scenario import Scenario
from harness.plugins.swerex.configuration import SwerexConfiguration
from harness.results.calibration import GoldFile
from harness.results.failing.funnel import WeightsFile
from harness.results.injection import CorpusFile
from harness.runs.at_work import AtWorkFile
from harness.runs.attempts import AttemptRecord
from harness.runs.evidence_file import ArmLine, EvidenceFile
from harness.runs.finished_work import AgentFile
from harness.runs.plan import RunConfig, RunFile
from harness.runs.submissions import Expectation
from harness.runs.trial_store import TrialFile, UsageFile
from harness.sandbox.images.work_tree import ImageRecord
from harness.specs.model_file import ModelFile
from harness.specs.repo import Repo
from harness.specs.rubric import Rubric
from harness.specs.scaffold import Scaffold
from harness.specs.task import TaskFile

FOLDER = Path(__file__).parent.parent / "docs" / "schemas"
MODELS: dict[str, Any] = {
    "repo.yaml": Repo,
    "task.yaml": TaskFile,
    "rubric.yaml": Rubric,
    "arms.yaml": ArmsFile,
    "stable.yaml": Stable,
    "bug-task.yaml": BugFile,
    "hidden.yaml": HiddenTests,
    "design.yaml": DesignFile,
    "vocabulary.yaml": Vocabulary,
    "scaffold.yaml": Scaffold,
    "model.yaml": ModelFile,
    "script.yaml": MessageScript,
    "swerex.yaml": SwerexConfiguration,
    "scenario.yaml": Scenario,
    "scoring.yaml": Scoring,
    "score.json": ScoreFile,
    "run-config.yaml": RunConfig,
    "run.yaml": RunFile,
    "trial.json": TrialFile,
    "agent.json": AgentFile,
    "attempts.jsonl": AttemptRecord,
    "image.json": ImageRecord,
    "bundle.json": Bundle,
    "check-record.json": CheckRecord,
    "same-images.json": SameImages,
    "usage.json": UsageFile,
    "at-work.json": AtWorkFile,
    "verdict.json": VerdictRecord,
    "evidence.json": EvidenceFile,
    "arms.jsonl": ArmLine,
    "judge.jsonl": Vote,
    "mutants.json": MutantsFile,
    "names.json": NamesFile,
    "mutation-scores.json": SuiteScores,
    "gold.yaml": GoldFile,
    "weights.yaml": WeightsFile,
    "injection.yaml": CorpusFile,
    "expect.yaml": Expectation,
    "trajectory.jsonl": Record,
}


def schemas() -> dict[str, str]:
    """File name -> text, for every model."""
    found = {}
    for name, model in MODELS.items():
        schema = TypeAdapter(model).json_schema()
        schema.get("properties", {}).pop("directory", None)
        found[f"{name}.schema.json"] = json.dumps(schema, indent=2, sort_keys=True) + "\n"
    return found


def main() -> int:
    found = schemas()
    differing = [name for name, text in found.items() if not _is_same(FOLDER / name, text)]
    differing += [path.name for path in FOLDER.glob("*.json") if path.name not in found]
    if "--check" in sys.argv[1:]:
        for name in differing:
            print(f"docs/schemas/{name} differs from its model; run make schemas", file=sys.stderr)
        return 1 if differing else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in FOLDER.glob("*.json"):
        path.unlink()
    for name, text in found.items():
        (FOLDER / name).write_text(text)
    return 0


def _is_same(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text() == text


if __name__ == "__main__":
    sys.exit(main())
