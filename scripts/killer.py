"""A run with `oracle` under a killer that strikes at random; it must come to an undisturbed run's verdicts.

usage: killer.py [--ray] [--seed N] [--strikes N] [--within SECONDS] [-j N] [--keep DIRECTORY] [--beside DIRECTORY]
                 [TASK...]                                                      (make killer only="TASK ...")

The tasks (else: every shipped one) are run undisturbed first. Then the same run is done with SIGKILL of its runner at
moments that a seed draws, and started again each time. With --ray a cluster of three nodes on this machine does it,
and the killer takes a node, which a new one replaces, or the driver. After so many strikes the run is left alone.

With --beside the undisturbed run of an earlier --keep is taken, where it has these tasks' verdicts.

Then `verdict.json` of each trial must be the same, but for how a test fails where a judging draws its own garbage (by
an assertion, or by an exception before it), and for the note on slow tests; no agent that had handed in may have
worked again; no trial may be damaged; and no container of the run may be left. Status 1 where one of it doesn't hold.
"""

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeVar

import docker
import yaml

from harness.results.report.tables import console, table
from harness.runs.store import find_trials
from harness.specs.catalog import Catalog
from harness.specs.reasons import NoteCode

T = TypeVar("T")
NODES, OF_A_NODE = 3, 2
AT_THE_END = 3
"""Starts that are left alone: a trial whose nodes were lost again and again is for the next start."""


class Struck(NamedTuple):
    """What the killer took, so many seconds after its start or the last strike; `finished` trials had a verdict."""

    what: str
    seconds: float
    finished: int


class Run:
    """One run directory, and the command that works in it."""

    def __init__(self, directory: Path, tasks: list[str], jobs: int, executor: str = "") -> None:
        self.directory = directory
        self.trials = len(tasks)
        chosen = [word for task in tasks for word in ("-t", task)]
        words = ["run", *chosen, "-s", "oracle", "-j", str(jobs), "--sandbox", "docker", "-o", str(directory)]
        self.words = [sys.executable, "-m", "harness.cli", *words, *(["--executor", executor] if executor else [])]

    def start(self) -> "subprocess.Popen[bytes]":
        with (self.directory.parent / f"{self.directory.name}.log").open("ab") as log:
            return subprocess.Popen(self.words, stdout=log, stderr=log)

    def files(self, name: str) -> dict[str, Path]:
        """Of each trial that has one, by the trial's place."""
        if not (self.directory / "run.yaml").exists():
            return {}
        found = {store.directory: store.directory / name for store in find_trials(self.directory)}
        return {str(place.relative_to(self.directory)): path for place, path in found.items() if path.exists()}

    def contents(self, name: str) -> dict[str, bytes]:
        return {place: path.read_bytes() for place, path in self.files(name).items()}

    def containers(self) -> int:
        label = f"testwright.run={yaml.safe_load((self.directory / 'run.yaml').read_text())['id']}"
        client = docker.from_env()
        try:
            return len(client.api.containers(all=True, filters={"label": label}))
        finally:
            client.close()


class Killer:
    """Strikes at a run. `cluster` is where its trials are done, None for this machine's one runner."""

    def __init__(self, run: Run, seed: int, longest: float, cluster: Any = None) -> None:
        self.run, self.cluster, self.longest = run, cluster, longest
        self.chance = Random(seed)
        self.agents: dict[str, bytes] = {}
        self.paid_again: set[str] = set()

    def strike(self, process: "subprocess.Popen[bytes]") -> Struck | None:
        """Strike at a start in its middle; None where it ended before that. A start that lost a node goes on."""
        began, moment = time.monotonic(), self.chance.uniform(0, self.longest)
        what = self.chance.choice(("a node", "a node", "the driver")) if self.cluster else "the runner"
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=moment)
        self.look()
        if process.poll() is not None:
            return None
        struck = Struck(what, time.monotonic() - began, len(self.run.files("verdict.json")))
        if what == "a node":
            self.replace_a_node()
        else:
            process.kill()
            process.wait()
            self.look()
        return struck

    def replace_a_node(self) -> None:
        from tests.support.ray_cluster import add_node, kill_node

        kill_node(self.cluster, self.chance.choice(sorted(self.cluster.worker_nodes, key=lambda node: node.node_id)))
        add_node(self.cluster, OF_A_NODE)

    def look(self) -> None:
        """Whether an agent that had handed in has worked again."""
        now = self.run.contents("agent.json")
        self.paid_again |= changed(self.agents, now)
        self.agents |= now

    def strikes(self, most: int) -> list[Struck]:
        """Do the run under so many strikes, and then to its end."""
        struck: list[Struck] = []
        process = self.run.start()
        while len(struck) < most and (one := self.strike(process)):
            struck.append(one)
            print(f"{one.what}, {one.seconds:.0f} s later: {one.finished} of {self.run.trials} finished", flush=True)
            if process.poll() is not None:
                process = self.run.start()
        process.wait()
        self.leave_alone()
        return struck

    def leave_alone(self) -> None:
        for _ in range(AT_THE_END):
            if self.run.start().wait() == 0 and len(self.run.files("verdict.json")) == self.run.trials:
                break
        self.look()


_DRAWN = re.compile(r'("garbage-\d+": *"failed): \w+"')


def verdicts(run: Run) -> dict[str, str]:
    """Of each trial the verdict, without what its own draw and a machine's speed make of it."""
    return {place: _same_everywhere(text) for place, text in run.contents("verdict.json").items()}


def _same_everywhere(text: bytes) -> str:
    verdict = json.loads(text)
    verdict["notes"] = [note for note in verdict.get("notes", ()) if note["code"] != NoteCode.SLOW_TESTS]
    return _DRAWN.sub(r'\1"', json.dumps(verdict))


def changed(known: Mapping[str, T], now: Mapping[str, T]) -> set[str]:
    """The trials whose file is another one, or gone."""
    return {place for place, text in known.items() if now.get(place) != text}


def main() -> int:
    parser = argparse.ArgumentParser(prog="killer.py", description="A run under a killer that strikes at random.")
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="shipped tasks (default: all)")
    parser.add_argument("--ray", action="store_true", help="on a Ray cluster of three nodes, one of which is killed")
    parser.add_argument("--seed", type=int, default=1, help="of the moments (default: 1)")
    parser.add_argument("--strikes", type=int, default=6, help="at most so many (default: 6)")
    within = "between two strikes at most (default: half of what the undisturbed run takes)"
    parser.add_argument("--within", type=float, metavar="SECONDS", help=within)
    parser.add_argument("-j", "--jobs", type=int, default=4, help="trials at once (default: 4)")
    parser.add_argument("--keep", type=Path, metavar="DIRECTORY", help="a new directory for both runs and their logs")
    known = "what an earlier --keep has left: its undisturbed run is taken, with --within"
    parser.add_argument("--beside", type=Path, metavar="DIRECTORY", help=known)
    given = parser.parse_args()
    tasks = given.tasks or Catalog().names("tasks")
    if unknown := sorted(set(tasks) - set(Catalog().names("tasks"))):
        parser.error(f"no such task: {', '.join(unknown)}")
    if given.beside and not given.within:
        parser.error("--beside needs --within: nobody has timed the undisturbed run")
    with contextlib.ExitStack() as stack:
        if given.keep:
            given.keep.mkdir(parents=True)
        folder = given.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="testwright-")))
        undisturbed = Run((given.beside or folder) / "undisturbed", tasks, given.jobs)
        seconds = 0.0 if given.beside else done(undisturbed)
        if len(undisturbed.files("verdict.json")) != len(tasks):
            print(f"no undisturbed run of these tasks: {last_words(undisturbed)}", file=sys.stderr)
            return 1
        cluster = stack.enter_context(nodes()) if given.ray else None
        run = Run(folder / "struck", tasks, given.jobs, f"ray:{cluster.address}" if cluster else "")
        killer = Killer(run, given.seed, given.within or seconds / 2, cluster)
        struck = killer.strikes(given.strikes)
        return report(undisturbed, killer, struck, seconds)


def done(run: Run) -> float:
    """How many seconds it took."""
    began = time.monotonic()
    run.start().wait()
    return time.monotonic() - began


def last_words(run: Run) -> str:
    log = run.directory.parent / f"{run.directory.name}.log"
    return log.read_text()[-2000:] if log.exists() else f"there is no {log}"


@contextlib.contextmanager
def nodes() -> Iterator[Any]:
    from tests.support.ray_cluster import add_node, cluster_here

    with cluster_here() as cluster:
        for _ in range(NODES):
            add_node(cluster, OF_A_NODE)
        yield cluster


def report(undisturbed: Run, killer: Killer, struck: list[Struck], seconds: float) -> int:
    """Print what holds; the status."""
    run, wanted = killer.run, verdicts(undisturbed)
    found = verdicts(run)
    different = changed(wanted, found)
    damaged = [str(store.directory) for store in find_trials(run.directory) if store.damaged()]
    left = wait_for_none(run)
    same = f"{len(wanted) - len(different)} of {len(wanted)}"
    rows = [
        ("strikes", str(len(struck)) + (f", the undisturbed run took {seconds:.0f} s" if seconds else ""), ""),
        ("verdicts as in the undisturbed run", same, *verdict(different)),
        ("agents that had handed in and worked again", str(len(killer.paid_again)), *verdict(killer.paid_again)),
        ("damaged trials", str(len(damaged)), *verdict(damaged)),
        ("containers that are left", str(left), "ok" if not left else "WRONG"),
    ]
    console().print(table(("a run under a killer", "", ""), rows))
    is_whole = len(wanted) == run.trials and struck
    return 0 if is_whole and not (different or killer.paid_again or damaged or left) else 1


def verdict(wrong: Any) -> list[str]:
    return ["WRONG: " + ", ".join(sorted(wrong)) if wrong else "ok"]


def wait_for_none(run: Run, seconds: float = 60) -> int:
    """How many containers of the run are left once the processes beside lost nodes had time to remove them."""
    end = time.monotonic() + seconds
    while (left := run.containers()) and time.monotonic() < end:
        threading.Event().wait(1)
    return left


if __name__ == "__main__":
    os.chdir(Path(__file__).parent.parent)
    sys.exit(main())
