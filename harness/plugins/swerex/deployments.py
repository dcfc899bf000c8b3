"""Deployments, started and stopped by SWE-ReX's own classes, and what is known of each: a `Host`."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.plugins.swerex.client import Client
from harness.plugins.swerex.configuration import SwerexConfiguration, deployment_parameters
from harness.specs.errors import SandboxLost, UserError

_OLDEST_BASH = 5


@dataclass(frozen=True)
class Host:
    """A deployment that answers: its client, its user and the PATH of its server."""

    client: Client
    user: int
    path: str
    deployment: Any = None

    async def close(self) -> None:
        """Stop what `start_host` has started; a server that was there already is left alone."""
        await self.client.close()
        if self.deployment is None:
            return
        if error := await _stopped(self.deployment):
            raise SandboxLost(f"the SWE-ReX deployment can't be stopped: {error}")


async def start_host(configuration: SwerexConfiguration, places: Mapping[str, str]) -> Host:
    """Start a deployment, or reach the one that is there.

    Raises:
        UserError: A parameter is wrong, a package is missing, or no server answers.
        SandboxLost: The deployment doesn't start.
    """
    parameters = deployment_parameters(configuration, places)
    if configuration.kind == "remote":
        port = f":{parameters.port}" if parameters.port else ""
        client = Client(f"{parameters.host}{port}", parameters.auth_token)
        try:
            await client.greet()
            return await _described(client, None)
        except BaseException:
            await client.close()
            raise
    deployment = await _started(configuration, parameters)
    runtime = deployment.runtime
    reached = runtime._config  # SWE-ReX tells nobody where its server is
    port = f":{reached.port}" if reached.port else ""
    host = reached.host if reached.host.startswith("http") else f"http://{reached.host}"
    # `stop` closes it by a request whose answer it would obey: see client.py.
    runtime.close = _nothing
    host_here = Host(Client(f"{host}{port}", reached.auth_token), 0, "", deployment)
    try:
        return await _described(host_here.client, deployment)
    except BaseException:
        await asyncio.shield(host_here.close())
        raise


async def _started(configuration: SwerexConfiguration, parameters: Any) -> Any:
    try:
        deployment = parameters.get_deployment()
    except ImportError as error:
        raise UserError(
            f"sandbox swerex: a deployment of type {configuration.kind!r} needs a package that isn't installed: "
            f"{error}; pip install 'swe-rex[{configuration.kind}]'"
        ) from None
    try:
        # Its coroutines block, so they get an event loop of their own.
        await asyncio.to_thread(asyncio.run, deployment.start())
    except Exception as error:  # of whatever library speaks to the cloud
        await _stopped(deployment)
        raise SandboxLost(f"the SWE-ReX deployment doesn't start: {_first_line(error)}") from error
    return deployment


async def _stopped(deployment: Any) -> str:
    """Stop a deployment; what went wrong, empty where nothing did."""

    async def stop() -> None:
        # SWE-ReX 1.4 leaves a Modal sandbox alone that still runs.
        if type(deployment).__name__ == "ModalDeployment" and deployment._sandbox is not None:
            await deployment.sandbox.terminate.aio()
        await deployment.stop()

    try:
        await asyncio.to_thread(asyncio.run, stop())
    except Exception as error:  # of whatever library speaks to the cloud
        return _first_line(error)
    return ""


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).strip().partition("\n")[0]


async def _described(client: Client, deployment: Any) -> Host:
    user, bash, path, *missing = (await client.check("facts")).splitlines()
    if int(bash) < _OLDEST_BASH:
        raise UserError(f"sandbox swerex: the deployment has bash {bash}; {_OLDEST_BASH} is needed")
    if missing:
        raise UserError(f"sandbox swerex: the deployment lacks {', '.join(missing)}")
    return Host(client, int(user), path, deployment)


async def _nothing() -> None:
    """Do nothing, in place of a request to a server that may no longer be SWE-ReX's."""
