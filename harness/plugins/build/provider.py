"""The provider of models that hidden tests have beside them, for briefs whose contract names one.

It runs in the container of the tests, on the loopback network that the application has too. Requests are checked and
answered by the same code as those of `testwright dev provider`.
"""

from importlib import resources
from random import Random
from typing import NamedTuple

from harness.judging.verify.evidence import derived_seed
from harness.sandbox.machine_speed import slowness

NEEDS = "OPENAI_BASE_URL"
"""A contract whose `environment` has this name asks for a provider."""
SILENT_SECONDS = 3
MODEL = "scripted"
_PACKAGE = "harness.plugins.scripted_provider"
_SHARED = ("dialect.py", "failures.py", "openai_chat.py")
_REPLIES = "scenario.py"
"""Replies as plain data: a container of hidden tests has none of the packages that scenarios are read with."""


class StandIn(NamedTuple):
    """A provider's port and the key that requests to it must have."""

    port: int
    key: str

    @classmethod
    def drawn(cls, port: int, seed: int) -> "StandIn":
        """Return one with a key that no file can have."""
        return cls(port, f"sk-test-{Random(derived_seed(seed, 'key')).getrandbits(96):024x}")

    def for_application(self) -> dict[str, str]:
        """Return what the application gets in its environment."""
        return {NEEDS: f"http://127.0.0.1:{self.port}/v1", "OPENAI_API_KEY": self.key, **_both()}

    def for_tests(self) -> dict[str, str]:
        """Return what the hidden tests get in theirs."""
        return {"PROVIDER_PORT": str(self.port), "PROVIDER_KEY": self.key, **_both()}


def _both() -> dict[str, str]:
    return {"MODEL": MODEL, "PROVIDER_SECONDS": f"{SILENT_SECONDS * slowness():g}"}


def provider_files() -> dict[str, bytes]:
    """Return the provider's files, by paths below the folder of hidden tests."""
    own = resources.files("harness.plugins.build") / "in_container"
    package = f"{_PACKAGE.replace('.', '/')}/"
    shared = {package + name: (resources.files(_PACKAGE) / name).read_bytes() for name in _SHARED}
    replies = (own / _REPLIES).read_bytes()
    return {**shared, package + _REPLIES: replies, "provider.py": (own / "provider.py").read_bytes()}
