"""Stand-ins for a model provider: they answer by a script, so that programs can be tried without a model."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

from harness.models.protocol import Model
from harness.specs.registry import Registry

SCRIPTED = "scripted"
"""The stand-in of this package."""


class CommandAsker(Protocol):
    """A served model that asks an agent for one shell command and is done then."""

    @property
    def url(self) -> str:
        """The address where it is served: the base for Anthropic's clients; `url` + `/v1` for OpenAI's."""
        ...

    @property
    def calls(self) -> int:
        """The number of commands that it has asked for."""
        ...


class StandIn(Protocol):
    """A provider that is played from a file, in this process or over HTTP on loopback."""

    def model(self, path: Path) -> Model:
        """Return a model that answers as the file says, without HTTP.

        Raises:
            UserError: The file is absent or wrong.
        """
        ...

    def ask_for(self, command: str) -> AbstractAsyncContextManager[CommandAsker]:
        """Serve a model that asks any agent for `command`, by whichever shell tool the agent offers."""
        ...

    def serve_and_tell(self, path: Path, port: int) -> int:
        """Serve the file until Ctrl-C or SIGTERM, print a line for each request, and return the exit status.

        Raises:
            UserError: The file is wrong, or the port can't be had.
        """
        ...


STAND_INS: Registry[StandIn] = Registry("stand-in for a model provider", "testwright.stand_ins", {})
"""Stand-ins by name; each is imported when it is first used. They come from plugins alone."""
