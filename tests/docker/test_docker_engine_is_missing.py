"""Where no engine answers, one line says so."""

import pytest

from harness.sandbox.docker.client import Docker
from harness.specs.errors import UserError


@pytest.mark.parametrize("host", ["unix:///nonexistent/docker.sock", "tcp://127.0.0.1:1"])
def test_no_engine_is_told_in_one_line_that_says_what_to_do(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", host)
    with pytest.raises(UserError, match="testwright doctor") as caught:
        Docker()
    assert len(str(caught.value).splitlines()) == 1
