"""How much CPU time a site of 100 tasks, 5 systems and 3 attempts takes, told from two smaller ones.

The aim is 20 seconds on two cores, so 40 of CPU time: `report --site` shares its work out among the cores.
A whole one took 48.
"""

import resource
import time
from pathlib import Path

from tests.support.command import testwright
from tests.support.large_run import MODELS, large_catalog, large_run

FEW, SOME, WHOLE = 2, 8, 100
"""Numbers of tasks. What the whole takes is told from two smaller sites: each pays for the same start."""
ATTEMPTS = 3
SECONDS = 60.0
"""A quarter more than a whole one took: small sites tell it roughly, and a busy machine adds to it."""
LOOP = 3_000_000


def cpu_of_children() -> float:
    """Seconds of the commands that have ended, and of their own processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def slowness() -> float:
    """How many times longer plain Python takes here and now than on the machine of the budget."""
    began = time.process_time()
    total = 0
    for number in range(LOOP):
        total += number
    return max(1.0, (time.process_time() - began) / 0.25)


async def built(folder: Path, tasks: int) -> float:
    """CPU seconds of the command that makes a site of so many tasks, were nobody else at work here."""
    folder.mkdir()
    run = large_run(folder, large_catalog(folder / "catalog", tasks), ATTEMPTS)
    slow, began = slowness(), cpu_of_children()
    done = await testwright("--catalog", folder / "catalog", "report", run, "--site", folder / "site", cwd=folder)
    used = cpu_of_children() - began
    assert done.status == 0, done.complaint
    assert done.output.startswith(f"{tasks * len(MODELS) * ATTEMPTS} trials in ")
    assert all(page.stat().st_size < 1_000_000 for page in (folder / "site").rglob("*.html"))
    return used / ((slow + slowness()) / 2)


async def test_a_large_site_is_built_within_its_cpu_time(tmp_path: Path) -> None:
    few, some = await built(tmp_path / "few", FEW), await built(tmp_path / "some", SOME)
    whole = some + (WHOLE - SOME) * (some - few) / (SOME - FEW)
    assert whole < SECONDS, f"{few:.1f} s for {FEW} tasks, {some:.1f} s for {SOME}: {whole:.1f} s for {WHOLE}"
