"""A SWE-ReX server's HTTP interface, as far as sandboxes need it.

SWE-ReX's own client imports whatever module an error of the server names and calls what it finds there with the
server's text. The code that we run may have taken the server's place, so that client is not used. It would also read
answers of any length.

A driver on a deployment, as a stream: input is appended to a file, output is polled.
"""

import asyncio
import base64
import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.sandbox.channel import DRIVER_COMMAND
from harness.specs.errors import SandboxLost, UserError

if TYPE_CHECKING:
    import aiohttp

FAR_SIDE = Path(__file__).with_name("far_side.sh").read_text()
ANSWER_SECONDS = 120.0
"""The server does one thing at a time, so a request may wait for others'."""
CONNECT_SECONDS = 10.0
SCRIPT_SECONDS = 60.0
MAX_ANSWER_BYTES = 16_000_000
FIRST_PAUSE, LONGEST_PAUSE = 0.005, 0.5
"""Seconds between two looks at something that takes a while."""


class ScriptEnd(NamedTuple):
    """A script's end."""

    status: int
    output: str

    @property
    def data(self) -> bytes:
        """Return what it printed as base64.

        Raises:
            SandboxLost: It is no base64.
        """
        try:
            return base64.b64decode(self.output, validate=True)
        except ValueError:
            raise SandboxLost("the SWE-ReX server's answer is not what the script prints") from None


class Client:
    """A client that runs functions of `far_side.sh` on a server.

    Its methods raise SandboxLost where that is silent.
    """

    def __init__(self, url: str, token: str) -> None:
        self._url = url.rstrip("/")
        self._token = token
        self._session: aiohttp.ClientSession | None = None

    async def greet(self) -> None:
        """Check that a server answers and knows the token.

        Raises:
            UserError: None answers, or it doesn't know the token.
        """
        try:
            await self.call("true")
        except SandboxLost as error:
            raise UserError(f"no SWE-ReX server that knows the token answers at {self._url}: {error}") from None

    async def call(self, function: str, *arguments: str) -> ScriptEnd:
        """Run a function that ends at once: as long as it takes the server does nothing else."""
        argv = ["bash", "-c", FAR_SIDE, "bash", function, *arguments]
        if any(_unspeakable(word) for word in argv):
            return ScriptEnd(1, "")
        command = {"command": argv, "timeout": SCRIPT_SECONDS}
        answer = await self._post("execute", json=command)
        status, output = answer.get("exit_code"), answer.get("stdout")
        if not isinstance(status, int) or not isinstance(output, str):
            raise SandboxLost("the SWE-ReX server's answer has no exit code or output")
        return ScriptEnd(status, output)

    async def check(self, function: str, *arguments: str) -> str:
        """Return the output of a function that must succeed.

        Raises:
            SandboxLost: It doesn't.
        """
        answer = await self.call(function, *arguments)
        if answer.status:
            raise SandboxLost(f"'{function}' ended with status {answer.status} on the SWE-ReX deployment")
        return answer.output

    async def long(self, at: str, function: str, *arguments: str) -> int:
        """Run a function beside the server, with its state in directory `at`; its exit status."""
        await self.check("detach", at, function, *arguments)
        answer = await self.until(math.inf, "ended", at)
        return int(answer.output) if answer.output.strip().isdigit() else 1

    async def until(self, seconds: float, function: str, *arguments: str) -> ScriptEnd:
        """Run a function again and again until it succeeds, for so many seconds; its last answer."""
        deadline = time.monotonic() + seconds
        pause = FIRST_PAUSE
        while True:
            answer = await self.call(function, *arguments)
            if answer.status == 0 or time.monotonic() >= deadline:
                return answer
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def upload(self, source: Path | bytes, target: str) -> None:
        """Put a file, or bytes, at an absolute path."""
        import aiohttp

        with _opened(source) as content:
            form = aiohttp.FormData()
            form.add_field("file", content, filename="upload")
            form.add_field("target_path", target)
            form.add_field("unzip", "false")
            await self._post("upload", data=form)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def _post(self, endpoint: str, **content: Any) -> dict[str, Any]:
        import aiohttp

        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=ANSWER_SECONDS, sock_connect=CONNECT_SECONDS)
            self._session = aiohttp.ClientSession(timeout=timeout, headers={"X-API-Key": self._token}, trust_env=True)
        try:
            async with self._session.post(f"{self._url}/{endpoint}", allow_redirects=False, **content) as response:
                body = await _bounded(response)
                if response.status != 200:
                    raise SandboxLost(f"SWE-ReX answers {response.status}: {_message(body)}")
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise SandboxLost(f"the SWE-ReX server doesn't answer: {str(error) or type(error).__name__}") from error
        return _mapping(body)


async def _bounded(response: "aiohttp.ClientResponse") -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > MAX_ANSWER_BYTES:
            raise SandboxLost(f"the SWE-ReX server's answer is larger than {MAX_ANSWER_BYTES} bytes")
    return bytes(body)


def _mapping(body: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise SandboxLost("the SWE-ReX server's answer is no JSON mapping")
    return answer


def _message(body: bytes) -> str:
    """Return the first line of an error as SWE-ReX or FastAPI tells it."""
    try:
        answer = json.loads(body)
        text = answer.get("swerexception", {}).get("message") or answer.get("detail") or ""
    except (ValueError, AttributeError, RecursionError):
        text = body[:200].decode(errors="replace")
    return str(text).strip().partition("\n")[0][:200]


def _unspeakable(word: str) -> bool:
    """Return what can't be an argument: a NUL, or half a surrogate pair."""
    try:
        return b"\0" in word.encode()
    except UnicodeEncodeError:
        return True


def _opened(source: Path | bytes) -> Any:
    import io

    return source.open("rb") if isinstance(source, Path) else io.BytesIO(source)


_PIECE_BYTES = 66_000
"""Bytes that fit into one argument as base64."""
_LONGEST_PAUSE = 0.1


class PolledStream:
    """See `Stream`. `directory` is the channel's on the deployment."""

    def __init__(self, client: Client, directory: str) -> None:
        self._client = client
        self._directory = directory
        self._pause = FIRST_PAUSE

    @classmethod
    async def open(cls, client: Client, directory: str, marks: str, launch: Sequence[str]) -> "PolledStream":
        """Start a driver.

        Raises:
            SandboxLost: The sandbox is gone.
        """
        await client.check("open_channel", directory, marks, *launch, *DRIVER_COMMAND)
        return cls(client, directory)

    async def read(self) -> bytes:
        while True:
            encoded, _, over = (await self._client.check("read_channel", self._directory)).partition(" ")
            data = _decoded(encoded)
            if data:
                self._pause = FIRST_PAUSE
                return data
            if over:
                return b""
            await asyncio.sleep(self._pause)
            self._pause = min(1.5 * self._pause, _LONGEST_PAUSE)

    async def write(self, data: bytes) -> None:
        self._pause = FIRST_PAUSE
        for at in range(0, len(data), _PIECE_BYTES):
            piece = base64.b64encode(data[at : at + _PIECE_BYTES]).decode()
            if (await self._client.call("write_channel", self._directory, piece)).status:
                raise BrokenPipeError(self._directory)

    def close(self) -> None:
        """Close the stream; its processes end with the sandbox's, or when the next driver is started."""


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text.strip(), validate=True)
    except ValueError:
        raise SandboxLost("the SWE-ReX server's answer is not what the channel holds") from None
