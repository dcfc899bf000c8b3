"""`testwright report --site`."""

import shlex
from collections.abc import Iterable
from pathlib import Path

from harness.analysis.failing.tiers import WeightsFile
from harness.report.figures import counted
from harness.site.build import SiteBuilder
from harness.site.places import FRONT
from harness.specs.errors import UserError


def report_site(
    directories: list[Path],
    out: Path,
    catalog: Path | None,
    weights: WeightsFile | None = None,
    others: Iterable[object] = (),
) -> int:
    """Build a site and say where it begins. Returns the command's exit status. Raises UserError.

    `others` are the values of options that ask for something else than a site: none may be given.
    """
    if any(others):
        raise UserError("--site excludes --export, --format, --json and --csv; ask for these in another command")
    trials = SiteBuilder(directories, out, catalog, weights=weights).build()
    print(f"{counted(trials, 'trial')} in {out}; open {shlex.quote(str(out / FRONT))}")
    return 0
