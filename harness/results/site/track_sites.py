"""Sites of runs, `testwright report --site`: where there are several tracks, each has one below a page on all."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.results.failing.funnel import WeightsFile
from harness.results.report.figures import counted
from harness.results.run_rows import run_file
from harness.results.site.build import SiteBuilder, check_folder
from harness.results.site.material import FRONT, run_names
from harness.results.site.pages import Pages
from harness.specs.catalog import Places
from harness.specs.errors import Extra, UserError, check_extra
from harness.specs.tracks import BEHAVIOUR


@dataclass
class TrackSites:
    """Builds the same site again and again: of `track`, or of all tracks, whose rates are on no page together."""

    directories: Sequence[Path]
    out: Path
    catalog: Places = None
    is_live: bool = False
    weights: WeightsFile | None = None
    track: str = ""
    _builders: dict[str, SiteBuilder] = field(default_factory=dict)

    def build(self) -> int:
        """Write all pages that are new; how many trials there are now. Raises UserError."""
        tracks = asked_tracks(self.directories)
        if self.track and self.track not in tracks:
            raise UserError(f"--track {self.track}: no task of this track; there are: {', '.join(tracks)}")
        if self.track or len(tracks) < 2:
            return self._builder(self.track, self.out).build()
        check_folder(self.out)
        trials = {track: self._builder(track, self.out / track).build() for track in tracks}
        pages = Pages(self.out, ", ".join(run_names(list(self.directories))), self.is_live)
        pages.write_static()
        pages.write(FRONT, "tracks.html.j2", sites=[(track, self._builders[track].systems) for track in tracks])
        return sum(trials.values())

    def _builder(self, track: str, out: Path) -> SiteBuilder:
        if track not in self._builders:
            self._builders[track] = SiteBuilder(
                self.directories, out, self.catalog, self.is_live, self.weights, track
            )
        return self._builders[track]


def asked_tracks(directories: Iterable[Path]) -> tuple[str, ...]:
    """Return the tracks of all tasks that some runs were asked for, as their `run.yaml` says."""
    files = [file for directory in directories if (file := run_file(directory))]
    return tuple(sorted({file.tracks.get(task, BEHAVIOUR) for file in files for task in file.tasks}))


def trial_folder(directories: Sequence[Path], place: str, within: str = "") -> str:
    """Return what stands before the addresses of a trial's pages, on a page of the track `within` or above all."""
    tracks = asked_tracks(directories)
    if len(tracks) < 2:
        return ""
    task = place.partition("/")[0]
    own = next((file.tracks[task] for file in map(run_file, directories) if file and task in file.tracks), BEHAVIOUR)
    return f"../{own}/" if within in tracks else f"{own}/"


def report_site(
    directories: list[Path],
    out: Path,
    catalog: Places,
    weights: WeightsFile | None = None,
    others: Iterable[object] = (),
    track: str = "",
) -> int:
    """Build a site and say where it begins. Returns the command's exit status. Raises UserError.

    `others` are the values of options that ask for something else than a site: none may be given.
    """
    if any(others):
        raise UserError("--site excludes --export, --format, --json and --csv; ask for these in another command")
    check_extra(Extra.SITE, "report --site")
    trials = TrackSites(directories, out, catalog, weights=weights, track=track).build()
    print(f"{counted(trials, 'trial')} in {out}; open {shlex.quote(str(out / FRONT))}")
    return 0
