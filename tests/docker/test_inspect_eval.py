"""`inspect eval testwright/behaviour`, with the released package: `pip install inspect-ai` lets these tests run."""

from pathlib import Path

import pytest

from harness.specs.catalog import Catalog
from tests.support.light_task import TASK, light_catalog

inspect_ai = pytest.importorskip("inspect_ai", reason="pip install inspect-ai (the dependency group exchange)")
pytestmark = [pytest.mark.docker, pytest.mark.long, pytest.mark.timeout(900)]

EMPTY_SUITE = """
printf 'def test_nothing():\\n    assert True\\n' > aiosmtpd/tests/test_nothing.py
printf -- '- file: aiosmtpd/tests/test_nothing.py\\n  tests:\\n    - "test_nothing"\\n' > /logs/agent/manifest.yaml
"""


def reference(catalog: Path) -> str:
    """Commands that hand in the reference."""
    place = Catalog(catalog).task(TASK).directory / "reference"
    patch, manifest = (place / "tests.patch").read_text(), (place / "manifest.yaml").read_text()
    return f"git apply <<'PATCH'\n{patch}PATCH\ncat >/logs/agent/manifest.yaml <<'MANIFEST'\n{manifest}MANIFEST\n"


def evaluated(catalog: Path, directory: Path, *commands: str, **options):
    """The log of one trial with the solver of the task, whose model runs these commands and submits."""
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    calls = [ModelOutput.for_tool_call("mockllm/model", "bash", {"command": each}) for each in commands]
    calls.append(ModelOutput.for_tool_call("mockllm/model", "submit", {"answer": "done"}))
    for call in calls:
        call.usage = ModelUsage(input_tokens=10, output_tokens=2, total_tokens=12)  # else it fetches a tokeniser
    [log] = inspect_ai.eval(
        "testwright/behaviour",
        task_args={"task": TASK, "catalog": str(catalog), "engine": "docker"},
        model=get_model("mockllm/model", custom_outputs=calls),
        log_dir=str(directory / "logs"),
        display="none",
        **options,
    )
    return log


def test_an_agent_of_inspect_resolves_a_task(tmp_path: Path) -> None:
    from inspect_ai.log import list_eval_logs, read_eval_log

    catalog = light_catalog(tmp_path / "catalog")
    log = evaluated(
        catalog, tmp_path, "(exec 3<>/dev/tcp/1.1.1.1/80) 2>/dev/null || echo closed; id -u", reference(catalog)
    )
    assert log.status == "success", log.error
    [sample] = log.samples
    observed = [message.text for message in sample.messages if message.role == "tool"]
    assert observed[0].split() == ["closed", "1000"], "no network, no root"
    score = sample.scores["verdict"]
    assert (score.value, score.answer) == (1.0, "resolved"), score.explanation
    assert score.metadata["stages"]["mutation"]["tests"]
    assert log.results.scores[0].metrics["accuracy"].value == 1.0
    [listed] = list_eval_logs(str(tmp_path / "logs"))
    assert read_eval_log(listed).eval.task == "testwright/behaviour"


def test_a_suite_that_asserts_nothing_fails_and_is_judged_again_without_a_sandbox(tmp_path) -> None:
    from inspect_ai import score

    from testwright.inspect import verdict

    catalog = light_catalog(tmp_path / "catalog")
    log = evaluated(catalog, tmp_path, EMPTY_SUITE)
    [sample] = log.samples
    assert (sample.scores["verdict"].value, sample.scores["verdict"].answer) == (0.0, "failed")
    assert {reason["code"] for reason in sample.scores["verdict"].metadata["reasons"]} >= {"survived-removal"}
    again = score(log, verdict(), action="overwrite", display="none")
    assert again.samples[0].scores["verdict"].metadata["verdict"] == "failed"


def test_limits_of_the_task_end_the_agents_work(tmp_path) -> None:
    catalog = light_catalog(tmp_path / "catalog")
    log = evaluated(catalog, tmp_path, "true", "true", "true", turn_limit=2)
    [sample] = log.samples
    assert sample.limit.type == "turn"
    assert sample.scores["verdict"].answer == "failed"
    assert [reason["code"] for reason in sample.scores["verdict"].metadata["reasons"]] == ["empty-submission"]
