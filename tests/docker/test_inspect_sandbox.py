"""Inspect's own checks of a sandbox on ours: `pip install inspect-ai` lets them run."""

from collections.abc import AsyncIterator
from importlib import import_module

import pytest

from harness.runs.engine_session import engine_session
from harness.specs.catalog import Catalog
from tests.support.light_task import TASK

pytest.importorskip("inspect_ai", reason="pip install inspect-ai (the dependency group exchange)")
pytestmark = [pytest.mark.docker, pytest.mark.long, pytest.mark.timeout(600)]

OTHERWISE = {
    "test_exec_as_user": "the sandbox has one user, who is never root",
    "test_exec_large_command": "a million bytes are kept of a command's output",
}
CHECKS = import_module("inspect_ai.util._sandbox.self_check")
NAMES = sorted(name for name in vars(CHECKS) if name.startswith("test_"))


@pytest.fixture
async def sandbox() -> AsyncIterator[object]:
    from harness.plugins.frameworks.inspect_sandbox import TestwrightSandbox
    from harness.plugins.frameworks.workplace import Workplace

    async with engine_session("docker", "test-inspect-sandbox") as session:
        place = await Workplace.open(session, Catalog().task(TASK))
        try:
            yield TestwrightSandbox(place)
        finally:
            await place.remove()


@pytest.mark.parametrize("name", [name for name in NAMES if name not in OTHERWISE])
async def test_the_sandbox_does_as_inspect_asks(name, sandbox) -> None:
    await getattr(CHECKS, name)(sandbox)


async def test_the_two_checks_that_it_fails_fail_for_the_reason_that_is_documented(sandbox) -> None:
    from inspect_ai.util import OutputLimitExceededError, SandboxUserUnsupportedError

    with pytest.raises(SandboxUserUnsupportedError, match="one user"):
        await CHECKS.test_exec_as_user(sandbox)
    with pytest.raises(OutputLimitExceededError, match="1000000 bytes"):
        await CHECKS.test_exec_large_command(sandbox)
