"""What agents may reach of package registries: this machine's own, and those that a user names."""

import re
from pathlib import Path

import pytest
import yaml

from harness.agents.egress import check_egress
from harness.agents.templates import request_text
from harness.sandbox.egress.clients import CERTIFICATES, EGRESS_PORT, egress_for
from harness.sandbox.egress.destinations import Endpoint, endpoint_of, named_endpoint
from harness.sandbox.images.client_config import pip_own_hosts
from harness.sandbox.local.engine import LocalEngine
from harness.sandbox.protocol import Image
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.task import PackageClient, Task
from tests.support.command import typed_beside
from tests.support.tiny_catalog import tiny_catalog

PIP, NPM, GO = PackageClient


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine whose clients are as they came, with certificates."""
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    bundle = tmp_path / "ca.pem"
    bundle.write_bytes(b"certificates")
    monkeypatch.setenv("TESTWRIGHT_CA_BUNDLE", str(bundle))


def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    """A client that answers with this text, in place of this machine's."""
    path = tmp_path / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}:/usr/bin:/bin")


def test_what_an_agent_is_told_leads_to_the_proxy_and_the_certificates() -> None:
    egress = egress_for([PIP], [])
    told = egress.environment
    assert told["HTTPS_PROXY"] == told["http_proxy"] == f"http://127.0.0.1:{EGRESS_PORT}"
    assert "127.0.0.1" in told["no_proxy"].split(",")
    assert told["PIP_CERT"] == told["SSL_CERT_FILE"] == told["NODE_EXTRA_CA_CERTS"] == CERTIFICATES
    assert egress.certificates == b"certificates"


def test_a_client_without_settings_uses_its_own_registry() -> None:
    egress = egress_for([PIP], [])
    assert egress.endpoints == {Endpoint(host) for host in pip_own_hosts()}
    assert len(egress.endpoints) == 2
    assert not [name for name in egress.environment if name.startswith("PIP_") and name != "PIP_CERT"]


def test_indexes_that_pip_is_set_up_with_take_the_place_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://a.invalid/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "http://b.invalid:8080/simple file:///srv/simple")
    egress = egress_for([PIP], [])
    assert egress.endpoints == {Endpoint("a.invalid"), Endpoint("b.invalid", 8080)}
    assert egress.environment["PIP_INDEX_URL"] == "https://a.invalid/simple"
    assert egress.environment["PIP_EXTRA_INDEX_URL"] == "http://b.invalid:8080/simple"


def test_npm_is_asked_for_its_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, monkeypatch, "npm", "https://n.invalid/npm/")
    egress = egress_for([NPM], [])
    assert egress.endpoints == {Endpoint("n.invalid")}
    assert egress.environment["npm_config_registry"] == "https://n.invalid/npm/"


G, H, SUMS = "https://g.invalid", "https://h.invalid", "sums.invalid+key https://s.invalid"


@pytest.mark.parametrize(
    ("answer", "endpoints", "told"),
    [
        (f"{G},direct\nsums.invalid", {"g.invalid", "sums.invalid"}, (G, "sums.invalid")),
        (f"{G}|{H}\noff", {"g.invalid", "h.invalid"}, (f"{G},{H}", "off")),
        (f"{G}\n{SUMS}", {"g.invalid", "s.invalid"}, (G, SUMS)),
    ],
)
def test_go_is_asked_for_its_proxies_and_never_goes_to_repositories_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, endpoints: set[str], told: tuple[str, str]
) -> None:
    program(tmp_path, monkeypatch, "go", answer)
    egress = egress_for([GO], [])
    assert {it.host for it in egress.endpoints} == endpoints
    assert (egress.environment["GOPROXY"], egress.environment["GOSUMDB"]) == told


def test_a_client_that_knows_no_registry_needs_one_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, monkeypatch, "go", "direct\nsums.invalid")
    with pytest.raises(UserError, match=r"no go on this machine says where .* name a host with --registry"):
        egress_for([GO], [])
    egress = egress_for([GO], ["M.invalid:8443=10.0.0.7"])
    assert egress.endpoints == {Endpoint("m.invalid", 8443, "10.0.0.7")}


def test_an_address_that_a_user_gives_counts_for_what_a_client_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://a.invalid/simple")
    assert egress_for([PIP], ["a.invalid=10.0.0.7"]).endpoints == {Endpoint("a.invalid", 443, "10.0.0.7")}


@pytest.mark.parametrize("url", ["https://user:word@a.invalid/simple", "https://word@a.invalid/simple"])
def test_a_password_is_never_lent_nor_told(url: str) -> None:
    with pytest.raises(UserError, match="pip has a password in its registry's address") as error:
        endpoint_of(url, "pip")
    assert "word@" not in str(error.value)


@pytest.mark.parametrize("url", ["ftp://a.invalid/", "https://10.0.0.1/simple", "https://[::1]/", "https://a_b:x/"])
def test_a_registry_that_no_name_leads_to_is_refused(url: str) -> None:
    with pytest.raises(UserError):
        endpoint_of(url, "pip")


NO_HOSTS = (
    "", "10.0.0.1", "[::1]:443", "a.invalid:0x1", "a.invalid:70000", "a.invalid=b.invalid", "a b",
    "https://a.invalid", "a.invalid=",
)  # fmt: skip


@pytest.mark.parametrize("text", NO_HOSTS)
def test_what_is_no_host_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UserError, match="registry '") as error:
        named_endpoint(text)
    assert "\n" not in str(error.value)


def task_file(directory: Path, network: object) -> Path:
    path = tiny_catalog(directory, "egress").directory / "task.yaml"
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), "network": network}))
    return path


def test_the_policy_is_part_of_what_an_agent_gets_of_a_task(tmp_path: Path) -> None:
    digests = []
    for number, network in enumerate(("none", ["pip"], ["npm", "pip"], ["pip", "npm", "npm"])):
        task_file(tmp_path / str(number), network)
        digests.append(Catalog(tmp_path / str(number)).task("tiny-add").work_digest)
    assert len(set(digests)) == 3
    assert digests[2] == digests[3]


@pytest.mark.parametrize("network", ["open", [], ["conda"], True])
def test_a_policy_that_is_not_known_is_refused_with_its_place(tmp_path: Path, network: object) -> None:
    path = task_file(tmp_path, network)
    with pytest.raises(
        UserError, match=rf"^{re.escape(str(path))}:\d+: network: .*write none, or a list of pip, npm, go$"
    ) as error:
        Catalog(tmp_path).task("tiny-add")
    assert "\n" not in str(error.value)


@pytest.mark.long
async def test_hosts_that_are_none_and_sandboxes_without_a_way_there_are_refused(tmp_path: Path) -> None:
    path = task_file(tmp_path / "catalog", ["pip"])
    for name in Task.NEEDED:
        path.with_name(name).touch()
    (tmp_path / "said.yaml").write_text("schema_version: 1\nmessages: [{text: done}]\n")
    words = ("--catalog", "catalog", "run", "-t", "tiny-add", "-s", "mini", "-m", "scripted:said.yaml", "-o", "out")
    done = await typed_beside(*words, "--registry", "not a host", cwd=tmp_path)
    assert (done.status, done.output) == (2, "")
    assert "registry 'not a host': write HOST, HOST:PORT" in done.complaint
    task = Catalog(tmp_path / "catalog").task("tiny-add")

    async def no_image(_: Task) -> Image:
        raise AssertionError("nothing is started")

    with pytest.raises(UserError, match=r"sandbox 'local' \(none\) has no way there; use docker"):
        check_egress(LocalEngine(no_image, bubblewrap=False), task)


def test_the_request_says_what_is_reached(tmp_path: Path) -> None:
    for name, network in (("without", "none"), ("with", ["pip", "npm"])):
        task_file(tmp_path / name, network)
    without, told = (
        request_text(Catalog(tmp_path / name).task("tiny-add"), Catalog().scaffold("mini"))
        for name in ("without", "with")
    )
    assert "There is no network, and nobody answers questions." in without
    assert "There is no network but for the package registries of npm, pip, which the environment's proxy" in told
    assert "registries" not in without
