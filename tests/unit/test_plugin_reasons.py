"""Reasons of plugins' tracks: codes that the core doesn't know, each with the verdict that it leads to."""

from collections.abc import Iterator

import pytest

from harness.specs.errors import UserError
from harness.specs.reasons import REASONS, Reason, ReasonCode, Stage, Verdict
from tests.support.plugin_reasons import reasons_of

NAME = "wrong-colour"


@pytest.fixture
def registered(request: pytest.FixtureRequest) -> Iterator[ReasonCode]:
    REASONS.register(NAME, request.param)
    yield ReasonCode(NAME)
    REASONS.unregister(NAME)


@pytest.mark.parametrize("registered", [Verdict.FAILED, Verdict.INVALID, Verdict.UNSCORED], indirect=True)
def test_a_registered_code_is_a_reason_and_leads_to_its_verdict(registered: ReasonCode) -> None:
    reason = Reason(code=registered, stage=Stage.MUTATION, words="it is green")
    read = Reason.model_validate_json(reason.model_dump_json())
    assert read == reason
    assert read.code is registered
    assert read.code.verdict is REASONS.get(NAME)


@pytest.mark.parametrize("registered", [Verdict.RESOLVED, "failed?"], indirect=True)
def test_no_reason_leads_to_resolved_or_to_anything_but_a_verdict(registered: ReasonCode) -> None:
    with pytest.raises(UserError, match=f"reason {NAME}: it is registered with "):
        _ = registered.verdict


def test_a_code_that_nobody_registered_is_none() -> None:
    with pytest.raises(ValueError, match="wrong-size"):
        ReasonCode("wrong-size")


@pytest.mark.parametrize("plugin", ["bug", "design", "browser", "build"])
def test_a_plugin_registers_its_reasons_and_the_core_has_none_of_them(plugin: str) -> None:
    found = reasons_of(plugin)
    assert found
    assert all(code.verdict is Verdict.FAILED for code in found)
    assert not set(found) & set(ReasonCode)
