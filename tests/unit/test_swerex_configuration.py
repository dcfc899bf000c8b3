"""What `--sandbox swerex:...` may say, and what is told of what it can't."""

import subprocess
import sys
from pathlib import Path

import pytest

from harness.plugins.swerex.configuration import deployment_parameters, read_configuration
from harness.specs.errors import UserError
from tests.support.docs import examples

SHOWN = examples("operating.md", "SWE-ReX: another machine, or a cloud", "yaml")
OPEN = "accept_degraded=yes"
PLACES = {"reference": "testwright/task:1", "digest": "abc"}
VARIABLES = {"SWEREX_AUTH_TOKEN": "secret", "OTHER": "other-secret"}


def file(directory: Path, text: str) -> str:
    (directory / "own.yaml").write_text(text)
    return str(directory / "own.yaml")


@pytest.mark.parametrize(
    ("url", "host", "port", "token"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1", 8000, "secret"),
        ("https://build.example", "https://build.example", None, "secret"),
        ("http://[::1]:9/", "http://[::1]", 9, "secret"),
        ("http://127.0.0.1:8000?token_env=OTHER", "http://127.0.0.1", 8000, "other-secret"),
    ],
)
def test_a_url_names_a_server_and_the_environment_its_token(url: str, host: str, port: int, token: str) -> None:
    configuration = read_configuration(f"{url}{'&' if '?' in url else '?'}{OPEN}")
    parameters = deployment_parameters(configuration, {}, VARIABLES)
    assert (parameters.host, parameters.port, parameters.auth_token) == (host, port, token)
    assert "secret" not in str(configuration.model_dump())


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("", "needs a server or a file"),
        ("http://127.0.0.1:8000", "provides=network_isolation if it does, or accept_degraded=yes"),
        (f"http://127.0.0.1:8000?{OPEN}&rooot=/x", "unknown key 'rooot'; known: token_env, root"),
        (f"http://127.0.0.1:8000?{OPEN}&root=x", "root: "),
        (f"http://127.0.0.1:8000?{OPEN}&provides=everything", "provides"),
        ("http://127.0.0.1:8000?accept_degraded=perhaps", "accept_degraded: "),
        (f"http://me:word@127.0.0.1:8000?{OPEN}", "the token in $SWEREX_AUTH_TOKEN"),
        (f"http://127.0.0.1:eight?{OPEN}", "127.0.0.1:eight"),
        (f"http://127.0.0.1:8000/path?{OPEN}", "HOST:PORT is expected"),
        ("/nonexistent/own.yaml", "No such file"),
    ],
)
def test_an_argument_that_is_wrong_gets_one_line(argument: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        read_configuration(argument)
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("deploymnt: {type: remote}\n", "own.yaml:1: unknown key 'deploymnt'; did you mean 'deployment'?"),
        ("deployment: {type: local}\n", "deployment.type: 'local' is none of remote, docker"),
        ("deployment: {type: modal}\nin_place: true\n", "in_place needs per_sandbox: true"),
        ("deployment: {type: remote}\nper_sandbox: true\n", "a remote server is there already"),
        ("deployment: {type: modal}\n", "provides: [network_isolation] if it does, or accept_degraded: true"),
        ("deployment: {type: modal}\nprovides: [memroy]\n", "own.yaml:2: provides.0"),
    ],
)
def test_a_file_that_is_wrong_is_named_with_what_to_do(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        read_configuration(file(tmp_path, text))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("deployment", "message"),
    [
        ("{type: remote, host: http://h}", "deployment.auth_token: Field required"),
        ("{type: remote, hots: http://h}", "unknown key 'deployment.hots'; known: auth_token, host"),
        ("{type: modal, startup_timeout: soon}", "deployment.startup_timeout: "),
        ("{type: remote, auth_token: '${ABSENT}'}", "$ABSENT isn't set, here or in .env"),
    ],
)
def test_parameters_that_swerex_does_not_know_are_refused(tmp_path: Path, deployment: str, message: str) -> None:
    text = f"deployment: {deployment}\naccept_degraded: true\n"
    with pytest.raises(UserError) as caught:
        deployment_parameters(read_configuration(file(tmp_path, text)), PLACES, VARIABLES)
    assert message in str(caught.value)


@pytest.mark.parametrize("text", SHOWN)
def test_every_file_that_the_operators_page_shows_is_valid(tmp_path: Path, text: str) -> None:
    configuration = read_configuration(file(tmp_path, text))
    parameters = deployment_parameters(configuration, PLACES, VARIABLES)
    assert parameters.type == configuration.kind
    if configuration.in_place:
        assert parameters.image == "registry.example/testwright/task:1"


def test_what_a_deployment_provides_is_declared_and_what_it_lacks_is_in_the_isolation(tmp_path: Path) -> None:
    closed = read_configuration(file(tmp_path, "deployment: {type: modal}\nprovides: [network_isolation, pids]\n"))
    assert (closed.capabilities.network_isolation, closed.capabilities.pids) == (True, True)
    assert not closed.capabilities.memory
    assert closed.isolation == "swerex-modal"
    degraded = read_configuration(file(tmp_path, "deployment: {type: modal}\naccept_degraded: true\n"))
    assert not degraded.capabilities.network_isolation
    assert degraded.isolation == "swerex-modal-open-network"


def test_swerex_is_imported_only_when_such_a_sandbox_is_asked_for() -> None:
    script = (
        "import sys; import harness.runs.command; from harness.sandbox.registry import check_sandbox;"
        "from harness.tracks.registry import choose_engine;"
        "check_sandbox('swerex:http://x'); choose_engine('local');"
        "print([name for name in sys.modules if name.split('.')[0] == 'swerex'])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"
