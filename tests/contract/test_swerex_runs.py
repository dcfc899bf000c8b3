"""A whole run on a SWE-ReX server, and one that is refused since the server isolates no network."""

from pathlib import Path

import pytest

from harness.sandbox.host import cache_directory
from tests.support.command import typed_beside
from tests.support.few_arms import few_arms
from tests.support.light_task import TASK, light_catalog
from tests.support.swerex_server import swerex_server


@pytest.mark.long
@pytest.mark.timeout(600)
async def test_a_reference_is_resolved_on_a_swerex_server_and_marked_with_its_isolation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few_arms(monkeypatch)
    cache, catalog = str(cache_directory()), light_catalog(tmp_path / "light")
    with swerex_server(tmp_path) as server:
        run = ("--catalog", catalog, "run", "-t", TASK, "-s", "oracle", "-s", "nop", "-o", "out", "--sandbox")
        name = f"swerex:{server.url}?root={tmp_path}/root"
        known = {"TESTWRIGHT_CACHE": cache, "SWEREX_AUTH_TOKEN": server.token}
        refused = await typed_beside(*run, name, cwd=tmp_path, **known)
        assert (refused.status, refused.output) == (2, "")
        assert "accept_degraded=yes" in refused.complaint
        assert not (tmp_path / "root").exists()
        name += "&accept_degraded=yes"
        done = await typed_beside(*run, name, cwd=tmp_path, **known)
    assert done.status == 0, done
    assert "2 trials: 1 resolved, 1 failed" in done.output
    assert "isolation swerex-remote-open-network" in done.output
    assert list((tmp_path / "root").glob("sandbox-*")) == []
    for path in (tmp_path / "out").rglob("*"):
        assert not path.is_file() or server.token.encode() not in path.read_bytes()
