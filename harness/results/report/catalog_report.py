"""Prints the catalog, and the results of building and checking it, as tables or JSON.

Prints models, as tables or JSON: settings, price and key.

Prints what `doctor` found and what `clean` removed.
"""

import dataclasses
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.text import Text

from harness.results.report.tables import console, table
from harness.specs.authoring_facts import Build, Check
from harness.specs.catalog import Catalog, beside_catalogs
from harness.specs.problem import Finding, Health, Severity
from harness.specs.task import Task
from harness.specs.tracks import BEHAVIOUR

if TYPE_CHECKING:
    from harness.runs.owners import Cleaning


def report_tasks(catalog: Catalog, as_json: bool, patterns: Sequence[str] = ()) -> int:
    """Print a line for each task that the patterns take; kinds are of behaviour alone.

    Without patterns it is all of the catalog, and a line says which tracks have tasks beside it.

    Raises:
        UserError: A pattern takes none.
    """
    tasks = catalog.select(patterns or ["*"])
    broken = sorted(catalog.left_out.items())
    if as_json:
        return _json([*map(_task_facts, tasks), *({"id": name, "problem": message} for name, message in broken)])
    columns = ("task", "repo", "kind", "language", "must-haves", "probes", "title")
    rows = [
        (
            task.id,
            task.repo.name,
            task.file.kind.value if task.track == BEHAVIOUR else task.track,
            task.repo.language,
            str(len(task.rubric.must_haves)),
            str(len(task.probes)),
            task.file.title,
        )
        for task in tasks
    ]
    rows += [(name, "-", "-", "-", "-", "-", f"can't be read: {message}") for name, message in broken]
    console().print(table(columns, sorted(rows), right=("must-haves", "probes")))
    more = {} if patterns else beside_catalogs()
    if more:
        words = ", ".join(f"{track}:* ({len(names)})" for track, names in more.items())
        console().print(Text(f"more: {words}"), soft_wrap=True)
    return 0


def report_task(task: Task, as_json: bool) -> int:
    """Print a task for its user: what the agent is told, and the criteria that it isn't told."""
    if as_json:
        facts = _task_facts(task) | {
            "digest": task.digest,
            "prompt": task.prompt,
            "limits": task.file.limits.model_dump(mode="json"),
            "criteria": [criterion.model_dump(mode="json") for criterion in task.rubric.criteria],
        }
        return _json(facts)
    out = console()
    out.print(
        Text(f"{task.id}: {task.file.title}\nrepo {task.repo.name} {task.repo.version}, {task.file.kind} tests")
    )
    out.print(Text(_limits(task)), soft_wrap=True)
    if task.file.tags:
        out.print(Text(f"tags: {', '.join(task.file.tags)}"), soft_wrap=True)
    out.print(Text(f"\n{task.prompt}"))
    rows = [
        (criterion.id, criterion.importance.value, ", ".join(criterion.graded_by), criterion.statement)
        for criterion in task.rubric.criteria
    ]
    out.print(table(("criterion", "importance", "graded by", "statement"), rows))
    return 0


def report_repos(catalog: Catalog, as_json: bool) -> int:
    """Print the repositories of a catalog; return the exit status."""
    repos = [catalog.repo(name) for name in catalog.names("repos")]
    if as_json:
        return _json([repo.model_dump(mode="json") for repo in repos])
    rows = [(repo.name, repo.version, repo.language, repo.licence, repo.upstream) for repo in repos]
    console().print(table(("repo", "version", "language", "licence", "upstream"), rows))
    return 0


def report_scaffolds(catalog: Catalog, as_json: bool) -> int:
    """Print the scaffolds of a catalog; return the exit status."""
    scaffolds = [catalog.scaffold(name) for name in catalog.names("scaffolds")]
    if as_json:
        return _json([scaffold.model_dump(mode="json") for scaffold in scaffolds])
    rows = [(item.name, item.kind.value, item.version, item.title) for item in scaffolds]
    console().print(table(("scaffold", "kind", "version", "title"), rows))
    return 0


def report_builds(builds: Sequence[Build], as_json: bool) -> int:
    """Print the results of building images; return the exit status."""
    if as_json:
        return _json([dataclasses.asdict(build) for build in builds])
    rows = [(build.name, build.reference, build.digest[:16], f"{build.seconds:.1f}") for build in builds]
    console().print(table(("name", "image", "digest", "seconds"), rows, right=("seconds",)))
    return 0


def report_checks(checks: Sequence[Check], as_json: bool) -> int:
    """Print results of checks. Return 1 where one found an error."""
    problems = [problem for check in checks for problem in check.problems]
    if as_json:
        _json([_check_facts(check) for check in checks])
    else:
        out = console()
        rows = [
            (
                check.name,
                check.digest[:16],
                str(check.tests or "-"),
                f"{check.seconds:.1f}",
                "ok" if not check.problems else f"{len(check.problems)} problems",
            )
            for check in checks
        ]
        out.print(table(("name", "digest", "tests", "seconds", "found"), rows, right=("tests", "seconds")))
        if problems:
            out.print(
                table(("where", "severity", "problem"), [(p.where, p.severity.value, p.message) for p in problems])
            )
    return 1 if any(problem.severity is Severity.ERROR for problem in problems) else 0


def tell(line: str) -> None:
    """Print a step that takes a while to stderr."""
    print(line, file=sys.stderr, flush=True)


def _limits(task: Task) -> str:
    limits = task.file.limits
    whole = f", {limits.verification_seconds} s a verification" if limits.verification_seconds else ""
    agent = f"{limits.steps} answers, {limits.wall_seconds} s, ${limits.cost_usd:g}"
    return f"limits: agent {agent}; arms {limits.arm_seconds} s each{whole}"


def _task_facts(task: Task) -> dict[str, Any]:
    return {
        "id": task.id,
        "track": task.track,
        "repo": task.repo.name,
        "kind": task.file.kind,
        "language": task.repo.language,
        "title": task.file.title,
        "tags": task.file.tags,
        "must_haves": len(task.rubric.must_haves),
        "probes": len(task.probes),
    }


def _check_facts(check: Check) -> dict[str, Any]:
    problems = [problem.model_dump(mode="json") for problem in check.problems]
    return {
        "name": check.name,
        "digest": check.digest,
        "tests": check.tests,
        "seconds": round(check.seconds, 1),
        "problems": problems,
    }


def _json(facts: Any) -> int:
    print(json.dumps(facts, indent=2))
    return 0


_STYLES = {Health.OK: "green", Health.DEGRADED: "yellow", Health.MISSING: "red"}


def report_findings(findings: Sequence[Finding], as_json: bool) -> int:
    """Print findings. Return 1 where something that is needed is missing."""
    if as_json:
        print(json.dumps([finding.model_dump(mode="json") for finding in findings], indent=2))
    else:
        rows = [
            (finding.name, Text(finding.health.value, style=_STYLES[finding.health]), finding.words)
            for finding in findings
        ]
        console().print(table(("what", "state", "in words"), rows))
    return 1 if any(finding.health is Health.MISSING for finding in findings) else 0


def report_cleaning(cleaning: "Cleaning", as_json: bool) -> int:
    """Print what was removed, or would be; return the exit status."""
    if as_json:
        print(json.dumps(asdict(cleaning)))
        return 0
    words = f"{cleaning.containers} containers, {cleaning.images} images"
    volumes = f"{cleaning.volumes} volumes of toolboxes" if cleaning.volumes else ""
    cache = "the cache" if cleaning.cache else ""
    whole = ", ".join(filter(None, (words, volumes, cache)))
    in_use = f"{cleaning.containers_in_use} containers and {cleaning.images_in_use} images"
    if cleaning.is_done:
        console().print(Text(f"removed: {whole}"))
    else:
        console().print(Text(f"would be removed: {whole}. Nothing was removed; --yes does it"))
    if cleaning.containers_in_use or cleaning.images_in_use:
        console().print(Text(f"in use by other commands, and left: {in_use}; --all takes them too"), soft_wrap=True)
    return 0
