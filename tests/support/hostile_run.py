"""A run of an agent whose every text attacks the page that shows it."""

import json
from pathlib import Path

from harness.agents.trajectory import Ending, EndRecord, FaultRecord, HeaderRecord, ObservationRecord, Trajectory
from harness.judging.submission.extraction import Submission
from harness.judging.verify.judge.replies import Vote
from harness.judging.verify.verdict import ManifestStage, MutationStage, StageStatus, TestRecord
from harness.models.protocol import Message, MessageRole, StopReason, ToolCall
from harness.models.replay import MessageRecord
from harness.runs.finished_work import AgentFile
from harness.specs.errors import ProviderFault
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.specs.usage import Usage
from tests.support.run_folder import begun, run_folder, verdict

MARKUP = (
    "<script>window.hacked=1</script><img src=x onerror='window.hacked=1'><svg onload=window.hacked=1>"
    "</pre></td></table><a href='javascript:window.hacked=1'>x</a><style>*{display:none}</style>"
    "<iframe src='https://example.org/'></iframe><link rel=stylesheet href='https://example.org/x.css'>"
    "{{ 7 * 7 }}{% raw %} $x^2$ --> ]]> \"'` &amp;"
)
CONTROLS = "\x1b[31mred\x1b[2J\x1b]0;title\x07\u202eto the left\u2066\u200bhidden\u2028line\ufeff\U000e0041\x00\r\x85"
HOSTILE = MARKUP + CONTROLS
LONG = "x" * 5_000_000
MODEL = "openai/<script>window.hacked=1</script>\u202e"


def hostile_run(directory: Path) -> Path:
    """One trial; its texts are all `HOSTILE`, one is a line of 5 MB."""
    run_folder(directory)
    store = begun(directory, "evil-task", "mini", MODEL.replace("<", "").replace(">", ""))
    file = store.trial()
    assert file
    (store.directory / "trial.json").write_text(file.model_copy(update={"model": MODEL}).model_dump_json())
    patch = f"diff --git a/t.py b/t.py\n--- /dev/null\n+++ b/t.py\n@@ -0,0 +1,2 @@\n+{HOSTILE}\n+{LONG}\n"
    agent = AgentFile(ending="submitted", message=HOSTILE, steps=1, usage=Usage(), seconds=1.0, remarks=(HOSTILE,))
    store.keep_submission(Submission(patch.encode("utf-8", "replace"), HOSTILE.encode("utf-8", "replace")), agent)
    call = ToolCall(id="1", name=HOSTILE, arguments=json.dumps({"command": HOSTILE}))
    said = Message(role=MessageRole.ASSISTANT, content=HOSTILE, tool_calls=(call,))
    with Trajectory(store.trajectory) as trajectory:
        trajectory.add(HeaderRecord(scaffold=HOSTILE, scaffold_version=HOSTILE, model=MODEL, task="evil-task"))
        trajectory.add(FaultRecord(step=0, fault=ProviderFault.SERVER, message=HOSTILE, usage=Usage()))
        trajectory.add(MessageRecord(step=1, message=said, usage=Usage(), stop=StopReason.TOOL_CALLS))
        trajectory.add(
            ObservationRecord(
                step=1, command=HOSTILE, exit_status=0, seconds=0.1, output_bytes=9, truncated=0, timed_out=False
            )
        )
        for text in (HOSTILE, LONG, "\u202e" * 100_000, "<" * 100_000):
            trajectory.add(MessageRecord(step=1, message=Message(role=MessageRole.TOOL, content=text)))
        trajectory.add(EndRecord(ending=Ending.SUBMITTED, message=HOSTILE, steps=1, usage=Usage()))
    record = verdict(store, ReasonCode.CRITERION_UNMET)
    tests = TestRecord(test=f"t.py::{HOSTILE}", arms={"baseline": HOSTILE, HOSTILE: "passed"})
    criteria = tuple(
        item.model_copy(update={"words": HOSTILE, "killed_by": {HOSTILE: (HOSTILE,)}})
        for item in record.stages.rubric.criteria
    )
    stages = record.stages.model_copy(
        update={
            "manifest": ManifestStage(status=StageStatus.PASSED, tests=(f"t.py::{HOSTILE}",)),
            "mutation": MutationStage(status=StageStatus.PASSED, tests=(tests,)),
            "rubric": record.stages.rubric.model_copy(update={"criteria": criteria}),
        }
    )
    reason = Reason(code=ReasonCode.CRITERION_UNMET, stage=Stage.RUBRIC, subject=HOSTILE, words=HOSTILE)
    hostile = record.model_copy(update={"reasons": (reason,), "stages": stages})
    (store.directory / "verdict.json").write_text(hostile.to_json())
    vote = Vote(question="1.1", statement="s", number=1, quote=HOSTILE, why=HOSTILE, words=HOSTILE)
    (store.directory / "judge.jsonl").write_text(vote.model_dump_json() + "\n")
    return directory
