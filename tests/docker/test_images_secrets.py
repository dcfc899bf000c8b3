"""What a build borrows from this machine gets there, and does not stay."""

import hashlib
from pathlib import Path

import docker
import pytest

from harness.authoring.image_search import SavedImage
from harness.sandbox.images.task_images import task_image
from tests.support.tiny_repo import tiny_repo, tiny_task

pytestmark = pytest.mark.docker

MARKER = "dGVzdHdyaWdodCBwcml2YXRlIG1hcmtlcg"
CERTIFICATE = f"-----BEGIN CERTIFICATE-----\n{MARKER}\n-----END CERTIFICATE-----\n"
PROXY = "http://someone:secret-word@proxy.invalid:3128"
INDEX = "https://someone:other-word@index.invalid/simple"


async def test_certificates_index_and_proxy_reach_the_build_and_stay_out_of_the_image(
    client: docker.DockerClient, nonce: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = tmp_path / "ca.pem"
    bundle.write_text(CERTIFICATE)
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TESTWRIGHT_CA_BUNDLE", str(bundle))
    monkeypatch.setenv("HTTP_PROXY", PROXY)
    monkeypatch.setenv("PIP_INDEX_URL", INDEX)
    # The step knows only hashes of what it must find, or the text would stand in the image's history.
    step = (
        f"echo '{digest(CERTIFICATE)}  /run/secrets/ca' | sha256sum --check"
        f" && [ $(printf %s $HTTP_PROXY | sha256sum | cut -c1-64) = {digest(PROXY)} ]"
        f" && grep index-url -A1 /run/secrets/pip_conf | tail -1 | tr -d ' \\n' | sha256sum | grep -q {digest(INDEX)}"
    )
    image = await task_image(tiny_task(tiny_repo(tmp_path / "repo", f"{{ {step}; }}", nonce), tmp_path / "task"))
    archive = tmp_path / "image.tar"
    with archive.open("wb") as file:
        file.writelines(client.images.get(image.reference).save(named=True))
    saved = SavedImage(archive)
    everything = [("configuration", saved.configuration().encode()), *saved.files()]
    for path, data in everything:
        for secret in (MARKER, "proxy.invalid", "index.invalid", "secret-word", "other-word"):
            assert secret.encode() not in data, path
    logs = "".join(path.read_text() for path in (tmp_path / "cache" / "logs").iterdir())
    assert "secret-word" not in logs
    assert "other-word" not in logs


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
