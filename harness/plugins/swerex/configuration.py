"""The argument of `--sandbox swerex:...`: a server's URL, or a YAML file with a deployment and its parameters.

The engine that `--sandbox swerex:...` names. Apart from the engine, which takes long to import.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qs, urlsplit

from pydantic import BaseModel, Field, ValidationError, model_validator

from harness.sandbox.protocol import Capabilities
from harness.sandbox.registry import ImageSources
from harness.specs.errors import UserError
from harness.specs.schema_faults import plain_words
from harness.specs.yaml_files import FileModel, load_yaml

if TYPE_CHECKING:
    from harness.plugins.swerex.engine import SwerexEngine

Provided = Literal["network_isolation", "memory", "pids", "disk", "separate_user"]
DEFAULT_ROOT = "/tmp/testwright-swerex"
DEFAULT_TOKEN = "SWEREX_AUTH_TOKEN"
_KEYS = ("token_env", "root", "provides", "accept_degraded")
_TYPES = ("remote", "docker", "modal", "fargate", "daytona")
_VARIABLE = re.compile(r"\$\{(\w+)\}")


class SwerexConfiguration(FileModel):
    """A SWE-ReX deployment: how it is reached or started, and what it is known to enforce."""

    deployment: dict[str, Any] = Field(
        description="`type` and the parameters of SWE-ReX's own configuration class of that type; ${NAME} is taken "
        "from the environment, {reference} and {digest} are the task image's"
    )
    per_sandbox: bool = Field(default=False, description="true: a deployment of its own for each sandbox and job")
    in_place: bool = Field(
        default=False, description="true: the deployment starts from the task's image, so /app and /logs are its own"
    )
    root: str = Field(default=DEFAULT_ROOT, description="where sandboxes' directories are made", pattern="^/.")
    env: dict[str, str] = Field(default_factory=dict, description="set in every process; PATH may be among it")
    inherit_env: bool = Field(default=False, description="true: processes have the server's own variables as well")
    provides: tuple[Provided, ...] = Field(default=(), description="what the deployment itself enforces")
    accept_degraded: bool = Field(default=False, description="true: go without network isolation")

    @model_validator(mode="after")
    def _fits(self) -> "SwerexConfiguration":
        kind = self.deployment.get("type")
        if kind not in _TYPES:
            raise ValueError(f"deployment.type: {kind!r} is none of {', '.join(_TYPES)}")
        if self.in_place and not self.per_sandbox:
            raise ValueError("in_place needs per_sandbox: true, since each sandbox has a tree of its own")
        if self.per_sandbox and kind == "remote":
            raise ValueError("per_sandbox: a remote server is there already; take a deployment that can be started")
        return self

    @property
    def kind(self) -> str:
        return str(self.deployment["type"])

    @property
    def capabilities(self) -> Capabilities:
        """A sandbox's own directory is watched by us; the rest is the deployment's doing."""
        return Capabilities(
            network_isolation="network_isolation" in self.provides,
            memory="memory" in self.provides,
            pids="pids" in self.provides,
            disk="disk" in self.provides or not self.in_place,
            separate_user="separate_user" in self.provides,
        )

    @property
    def variables(self) -> tuple[str, ...]:
        """Return what its deployment takes from the environment."""
        return tuple(_VARIABLE.findall(str(self.deployment)))

    @property
    def isolation(self) -> str:
        return f"swerex-{self.kind}" + ("" if "network_isolation" in self.provides else "-open-network")


def read_configuration(argument: str) -> SwerexConfiguration:
    """Return the configuration that follows `swerex:`.

    Raises:
        UserError: It is absent or wrong.
    """
    if not argument:
        raise UserError("sandbox 'swerex' needs a server or a file: swerex:http://HOST:PORT or swerex:FILE.yaml")
    remote = argument.startswith(("http://", "https://"))
    configuration = _from_url(argument) if remote else load_yaml(Path(argument), SwerexConfiguration)
    if not (configuration.accept_degraded or configuration.capabilities.network_isolation):
        how = "provides=network_isolation" if remote else "provides: [network_isolation]"
        instead = "accept_degraded=yes" if remote else "accept_degraded: true"
        raise UserError(
            f"sandbox swerex:{argument}: tasks need commands without a network, and this deployment isn't known to "
            f"isolate them; say {how} if it does, or {instead} to go without"
        )
    return configuration


def deployment_parameters(
    configuration: SwerexConfiguration, places: Mapping[str, str], environment: Mapping[str, str] = os.environ
) -> Any:
    """Return the deployment's parameters, checked, as SWE-ReX's own class; `places` replace `{NAME}`.

    Raises:
        UserError: A parameter is wrong.
    """
    from swerex.deployment import config as classes

    def filled(value: Any) -> Any:
        if isinstance(value, str):
            for name, text in places.items():
                value = value.replace(f"{{{name}}}", text)
            return _VARIABLE.sub(lambda found: _variable(found[1], environment), value)
        if isinstance(value, dict):
            return {key: filled(item) for key, item in value.items()}
        return [filled(item) for item in value] if isinstance(value, list) else value

    model: type[BaseModel] = getattr(classes, f"{configuration.kind.capitalize()}DeploymentConfig")
    parameters = {key: value for key, value in filled(configuration.deployment).items() if key != "type"}
    unknown = sorted(set(parameters) - set(model.model_fields))
    if unknown:
        raise UserError(
            f"sandbox swerex: unknown key 'deployment.{unknown[0]}'; known: {', '.join(model.model_fields)}"
        )
    try:
        return model(**parameters)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, ("deployment", *first["loc"])))
        raise UserError(f"sandbox swerex: {where}: {plain_words(first['msg'])}") from None


def _from_url(url: str) -> SwerexConfiguration:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UserError(f"sandbox swerex:{url}: {error}") from None
    if not parts.hostname or parts.username or parts.password or parts.path not in ("", "/") or parts.fragment:
        raise UserError(f"sandbox swerex: {parts.scheme}://HOST:PORT is expected, the token in ${DEFAULT_TOKEN}")
    given = {key: values[-1] for key, values in parse_qs(parts.query, keep_blank_values=True).items()}
    if unknown := sorted(set(given) - set(_KEYS)):
        raise UserError(f"sandbox swerex:{url}: unknown key {unknown[0]!r}; known: {', '.join(_KEYS)}")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    token = f"${{{given.get('token_env', DEFAULT_TOKEN)}}}"
    try:
        return SwerexConfiguration(
            deployment={"type": "remote", "host": f"{parts.scheme}://{host}", "port": port, "auth_token": token},
            root=given.get("root", DEFAULT_ROOT),
            provides=tuple(filter(None, given.get("provides", "").split(","))),
            accept_degraded=given.get("accept_degraded", "no"),
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise UserError(
            f"sandbox swerex:{url}: {'.'.join(map(str, first['loc']))}: {plain_words(first['msg'])}"
        ) from None


def _variable(name: str, environment: Mapping[str, str]) -> str:
    if name not in environment:
        raise UserError(f"sandbox swerex: ${name} isn't set, here or in .env")
    return environment[name]


def swerex(argument: str, images: ImageSources) -> "SwerexEngine":
    """Return the engine that `swerex:URL` or `swerex:FILE` names; no deployment is reached or started yet.

    Raises:
        UserError: The configuration is wrong.
    """
    configuration = read_configuration(argument)
    from harness.plugins.swerex.engine import SwerexEngine

    return SwerexEngine(configuration, images.container if configuration.in_place else images.directory)
