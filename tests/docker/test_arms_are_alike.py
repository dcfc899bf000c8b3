"""Nothing but behaviour tells one arm from another: a test of the submission looks at all it can see."""

import asyncio
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness.judging.verify.arms import AS_FOR_AGENTS, arm_slots
from harness.judging.verify.verification import Judgement, Judging
from harness.runs.engine_session import EngineSession
from harness.sandbox.docker.own_users import NUMBERS
from harness.sandbox.images.work_tree import AGENT_ID
from harness.sandbox.protocol import Engine, JobResult
from harness.specs.catalog import Catalog
from harness.tracks.registry import choose_engine
from tests.support.heard_arms import HeardArms
from tests.support.light_task import TASK, light_catalog
from tests.support.patches import new_test_file

pytestmark = [pytest.mark.docker, pytest.mark.long]

SOURCE = "/app/aiosmtpd/proxy_protocol.py"
GIT = "/app/.git"
CODE = "/app/aiosmtpd/__pycache__/proxy_protocol.cpython-311.pyc"
WALKER = """
import hashlib, json, os, pwd, re, subprocess, time
from aiosmtpd.proxy_protocol import ProxyTLV

KEPT = ("Uid", "Gid", "Cap", "Groups", "NoNewPrivs", "Seccomp")
USER = str(os.getuid())  # another one in each arm that runs, or the image's
STARTED = 1_500_000_000  # files of the image and the arm are older, what this run writes is younger


def looked_at(path):
    facts = os.lstat(path)
    owner = "own" if facts.st_uid == os.getuid() else facts.st_uid
    found = [oct(facts.st_mode), owner, facts.st_gid, facts.st_nlink]
    found.append(facts.st_mtime if facts.st_mtime < STARTED else "new")
    if os.path.islink(path):
        found.append(os.readlink(path))
    elif os.path.isfile(path):
        found.append(facts.st_size if path != "/etc/passwd" else "")
        if path.startswith(("/app/", "/logs/", "/tmp/", "/home/", "/etc/")):
            try:
                data = open(path, "rb").read()
                data = data.replace(b":x:%s:" % USER.encode(), b":x:own:") if path == "/etc/passwd" else data
                found.append(hashlib.sha256(data).hexdigest())
            except PermissionError:
                found.append("unreadable")
    return found


def test_walk():
    assert ProxyTLV.from_raw(b"\\x02\\x00\\x01a")["AUTHORITY"] == b"a"


def walk():
    files = {}
    for top, folders, names in os.walk("/"):
        folders[:] = [name for name in folders if os.path.join(top, name) not in ("/proc", "/sys", "/dev")]
        for name in [*folders, *names]:
            path = os.path.join(top, name)
            files[path] = looked_at(path)

    def text(path):
        return open(path, errors="replace").read()

    kept = [line for line in text("/proc/self/status").splitlines() if line.startswith(KEPT)]
    git = ["git", "-c", "safe.directory=/app"]
    facts = {
        "files": files,
        "environment": dict(os.environ),
        "main command": text("/proc/1/cmdline"),
        "mounts": text("/proc/self/mountinfo"),
        "limits": text("/proc/self/limits"),
        "status": [line.replace(USER, "own") if line.startswith("Uid") else line for line in kept],
        "user": os.getuid(),
        "name": pwd.getpwuid(os.getuid())[4:],
        "host": os.uname().nodename,
        "hosts": text("/etc/hosts"),
        "interfaces": sorted(os.listdir("/sys/class/net")),
        "commits": subprocess.run([*git, "log", "--all"], capture_output=True, text=True).stdout,
        "working directory": os.getcwd(),
    }
    with open(os.path.join(os.environ["TESTWRIGHT_REPORT_DIR"], "walk.json"), "w") as file:
        json.dump(facts, file)


walk()
"""


class Counting:
    """An engine, and how many jobs it has run."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.jobs = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    async def run_job(self, *arguments: Any) -> JobResult:
        self.jobs += 1
        return await self._engine.run_job(*arguments)


class Judged(NamedTuple):
    judgement: Judgement
    arms: dict[str, JobResult]
    jobs: int


def judged(catalog: Path) -> Judged:
    async def judge() -> Judged:
        task, engine = Catalog(catalog).task(TASK), Counting(choose_engine("docker"))
        heard = HeardArms()
        try:
            image = await engine.image(task)
            labels = {"testwright.run": "test-arms-are-alike"}
            arm_context = EngineSession(engine, labels, arm_slots(engine)).arm_context(task, image, heard)
            submission = new_test_file("aiosmtpd/tests/test_walk.py", WALKER, "test_walk")
            return Judged(await Judging(task, arm_context).run(submission), heard.results, engine.jobs)
        finally:
            await engine.close()

    return asyncio.run(judge())


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its task has each kind of arm: of probes and their twins one."""
    return light_catalog(tmp_path_factory.mktemp("light"))


@pytest.fixture(scope="module")
def judging(catalog: Path) -> Judged:
    return judged(catalog)


@pytest.fixture(scope="module")
def walks(judging) -> dict[str, Any]:
    return {name: json.loads(result.outputs["walk.json"]) for name, result in judging.arms.items()}


def differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> set[str]:
    return {key for key in one.keys() | other.keys() if one.get(key) != other.get(key)}


def is_as_for_agents(name: str) -> bool:
    return name.partition(",")[0] in AS_FOR_AGENTS


def pairs(walks: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Each arm's name and walk, and the walk of the first arm with a user of the same kind.

    An image whose files belong to another user has a layer of its own.
    """
    firsts = {is_as_for_agents(name): walk for name, walk in reversed(walks.items())}
    yield from ((name, walk, firsts[is_as_for_agents(name)]) for name, walk in walks.items())


def without_ids(text: str) -> str:
    """Ids of mounts, layers and peer groups are whatever number the engine comes to next."""
    return re.sub(r"[0-9a-f]{26,}|/l/[A-Z0-9]+|master:\d+|^\d+ \d+ \d+:\d+", "ID", text, flags=re.M)


def test_every_arm_was_walked(walks):
    kinds = {"rewritten", "twin", "placebo", "removal", "garbage", "probe"}
    assert {name.partition(",")[0].partition("-")[0] for name in walks} >= {"baseline", *kinds}
    assert len(walks) >= 12
    assert SOURCE in walks["baseline"]["files"]
    assert CODE in walks["baseline"]["files"]


def test_only_the_declared_files_differ_between_arms(walks):
    for name, walk, first in pairs(walks):
        assert differing(first["files"], walk["files"]) <= {SOURCE, CODE}, name


def test_every_arm_has_a_git_folder_of_the_same_files_without_content(walks):
    """How many names a folder has differs where files belong to another user: `pairs` compares the rest."""
    of_all = [walk["files"] for walk in walks.values()]
    found = [{path: facts for path, facts in files.items() if path.startswith(GIT)} for files in of_all]
    assert f"{GIT}/HEAD" in found[0]
    for files in found:
        assert files.keys() == found[0].keys()
        [(size, digest)] = [facts[-2:] for path, facts in files.items() if path.endswith(".pack")]
        assert digest == hashlib.sha256(bytes(size)).hexdigest()


def test_all_but_the_baseline_run_other_code_and_the_text_on_disk_says_nothing_of_it(walks):
    baseline = walks["baseline"]["files"]
    others = {name: differing(baseline, walk["files"]) for name, walk in walks.items() if name != "baseline"}
    assert all(CODE in paths for paths in others.values())
    for group in (("removal", "garbage", "probe"), ("rewritten", "twin", "placebo")):
        kinds = {SOURCE in paths for name, paths in others.items() if name.startswith(group)}
        assert kinds == {True, False}, group


def test_times_and_owners_are_the_same_even_of_the_files_that_differ(walks):
    for path in (SOURCE, CODE):
        assert len({json.dumps(walk["files"][path][:5]) for walk in walks.values()}) == 1


def test_arms_as_for_agents_have_the_images_user_and_others_one_of_their_own_who_owns_the_same(walks):
    of_users = {AGENT_ID, *NUMBERS}
    for name, walk in walks.items():
        assert walk["user"] == AGENT_ID if is_as_for_agents(name) else walk["user"] in NUMBERS
        owners = [walk["files"][path][1] for path in (SOURCE, CODE, "/app", "/home/agent", "/logs/agent")]
        assert owners == ["own"] * len(owners)
        assert walk["status"][0].split()[1:] == ["own"] * 4
        assert not [path for path, facts in walk["files"].items() if facts[1] in of_users]


def test_environment_processes_mounts_and_git_state_are_the_same(walks):
    for walk in walks.values():
        walk["mounts"] = without_ids(walk["mounts"])
        del walk["files"], walk["user"]
    for _, walk, first in pairs(walks):
        assert walk == first
    assert len({json.dumps({**walk, "mounts": ""}, sort_keys=True) for walk in walks.values()}) == 1


NAMES = ("removal", "garbage", "placebo", "twin-", "rewritten", "probe-", "baseline", "variant=")


def test_nothing_in_an_arm_names_its_variant(walks, judging):
    for result in judging.arms.values():
        seen = result.outputs["walk.json"].decode().lower()
        assert not [
            word
            for word in ("removal", "garbage", "placebo", "twin-", "rewritten", "probe-", "baseline", "variant=")
            if f'"{word}' in seen
        ]


def test_the_same_submission_judged_twice_gives_the_same_bytes(judging, catalog):
    again = judged(catalog)
    assert again.judgement.record.to_json() == judging.judgement.record.to_json()
    assert again.jobs == len(again.arms), "variants are compiled once a process"
