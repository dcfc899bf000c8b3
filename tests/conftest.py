"""Whether a Docker engine is there for the tests that need one; signals as a program at a terminal has them.

Collected tests are some million objects, which no test drops. The garbage collector rests until they are there and
leaves them out afterwards: what a test makes and drops costs the same whether ten tests were collected or thousands.
It also looks seldom: what tests import later stays as well, and looking through that again and again was a sixth of
all unit tests' own CPU.
"""

import gc
import os
import signal
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

# The same examples each time, and no limit by the clock: a busy machine and chance fail no test. `make test` takes
# the first thirty, everything else a hundred, but where a test says how many.
_EXAMPLES = int(os.environ.get("TESTWRIGHT_EXAMPLES", "100"))
settings.register_profile("testwright", derandomize=True, deadline=None, max_examples=_EXAMPLES)
settings.load_profile("testwright")

# Tables are as wide as they need to be, whichever terminal or none pytest is started in, and in processes of xdist.
os.environ.setdefault("COLUMNS", "200")

pytest_plugins = ["tests.support.cpu_seconds"]


def pytest_configure() -> None:
    """A job in the background is started with signals ignored, and what it starts inherits that.

    Tests send these signals to programs that they start. With a handler that does nothing they stay ignored here,
    and every program that is started has them as at a terminal.
    """
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(each) is signal.SIG_IGN:
            signal.signal(each, lambda _number, _frame: None)


def pytest_collectstart() -> None:
    gc.disable()


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()


def pytest_sessionfinish() -> None:
    # Else pytest looks through all that tests left behind once more, and then the process ends.
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("docker") and (complaint := _engine_complaint()):
        if os.environ.get("TESTWRIGHT_REQUIRE_DOCKER") == "1":
            pytest.fail(complaint, pytrace=False)
        pytest.skip(complaint)


@pytest.fixture(scope="session")
def stats() -> ModuleType:
    """Return `scipy.stats`, whose import takes longer than all tests that compare with it."""
    return import_module("scipy.stats")


@pytest.fixture(scope="session")
def special() -> ModuleType:
    """Return `scipy.special`, which a process that doesn't compare with it needn't import."""
    return import_module("scipy.special")


@pytest.fixture(scope="session")
def one_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of a single certificate."""
    import certifi

    text = Path(certifi.where()).read_text()
    end = "-----END CERTIFICATE-----\n"
    path = tmp_path_factory.mktemp("roots") / "one.pem"
    path.write_text(text[text.index("-----BEGIN") : text.index(end) + len(end)])
    return path


@pytest.fixture
def few_roots(one_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A vendor's client reads all roots that are trusted when it is made, also for a provider on loopback."""
    monkeypatch.setenv("SSL_CERT_FILE", str(one_root))


@cache
def _engine_complaint() -> str:
    """Empty where an engine answers."""
    import docker
    import requests

    try:
        client = docker.from_env(timeout=10)
        client.ping()
        client.close()
    except (docker.errors.DockerException, requests.RequestException) as error:
        return f"NO DOCKER ENGINE ANSWERS, so this was NOT tested: {str(error).splitlines()[0]}"
    return ""
