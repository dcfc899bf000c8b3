"""How far the verifier can be trusted: judges both corpora and counts both kinds of error.

usage: validity.py [honest] [adversarial] [--only=GLOB ...] [--sample] [--write | --check]

--only    judge the submissions whose names match (c-*, aiosmtpd-proxy-tlv/*)
--sample  judge those that no test is run for, and of the others enough to see each reason and note
--write   put what came out into docs/validity.md; rows of what isn't judged now stay as they are
--check   fail where docs/validity.md says something else about what was judged

A false refusal is a suite that is good enough and isn't resolved; a false acceptance is one that isn't and is.
Each figure has its 95% interval.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path

from harness.judging.verify.guessing import guess_table, vote_table
from harness.results.injection import ErrorRates, KnownCase, error_rates
from harness.results.report.batch_report import fault_lines, progress_line, report_batch
from harness.results.statistics.proportions import Rate
from harness.runs.submissions import Case, Expectation, Judged, judge_cases, read_batch
from harness.specs.catalog import Catalog
from harness.specs.reasons import ReasonCode, Verdict
from scripts import mutation_scores

CHECKOUT = Path(__file__).parents[1]
PAGE = CHECKOUT / "docs" / "validity.md"
CORPORA = ("honest", "adversarial")
HEAD = """# How far the verdicts can be trusted

Written by `make validity`. `make test-all` fails if this page no longer holds for a fixed sample of both corpora,
`make attack` and `make honest` if any verdict differs. Every row is a submission that is kept in `tests/`,
judged in real containers. The honest suites were written from a task's prompt by authors who had not seen the
verifier, its probes or its rubric; only those of jansson-object-merge, libcsv-reading and shellquote-words are by
authors who knew them, as are, of the tasks that came last, those whose names begin with b (cron-next-times,
jansson-equality-and-copies, libcsv-writing, maplibre-style-spec-changed-styles, pgspecial-named-queries,
redis-py-shared-lock, redis-py-stored-scripts, zod-records).

Intervals are Wilson's score intervals of 95%. No error among few submissions is a weak statement. These submissions
were written by few people for few tasks, so the rate among other people's work may lie outside of the intervals.

One suite was refused wrongly when it was first judged (`manifest-unknown-test`): the author of
cachetools-expiring-entries/b-thorough-stories had put a mixin with tests into another file than the classes that
inherit them, where testwright didn't look. It looks there now, and the suite is kept as it was written.

All 121 honest suites were judged in the night of 30 November 2026, and all verdicts are what the table says. The
rules were those of today but for the last entry below, and for seven suites the last but one. All 384 adversarial
submissions were judged on 30 November and 1 December 2026, and all verdicts are what the table says. Five were
refused for another reason than two days before, by what came last: three by the repository's own run on mutants,
where a mark had left the verdict open, and two by what the test runner collects. `agent-ends-every-shell` came
afterwards, with its ending, `sandbox-unusable`. What the rules are that came since 28 November, and what was judged
with each then:

- The repository's own test run, before a submission is resolved. It was run by itself for the 47 thorough honest
  suites in Python, C and TypeScript, green for all of them, and judged with three adversarial submissions that leave
  something red behind.
- Go's variants have nothing between the clauses of a switch. All adversarial submissions in Go were judged again
  on 29 November, and 20 of the honest suites in Go. So were all in C, and all in Python and TypeScript but 30.
- Cases that are skipped, and control arms with the image's user. They were judged with the nine submissions that
  came with them, and with 23 honest suites that must be resolved, in all four languages.
- A `.git` in every arm, existing tests that run without the patch as well, and one draw of three for slow kills. They
  were judged with 13 adversarial submissions in all four languages, and with 22 new honest suites, of which two had a
  test of what stays when the behaviour goes.
- Files that the repository's own run leaves out, and the names of new files. They were judged with the submissions
  that came with them, and such runs were held by themselves for the 24 thorough honest suites in Python: each loads
  its files, or leaves out their folder with all that was in it before. Nine new honest suites in all four languages
  were judged with them, and all nine are resolved.
- The repository's own run on mutants, errors at the end of files, and hooks that leave tests out. They were judged
  with the submissions that came with them, all as they must. So were 13 new honest suites for behaviour and 8 new
  hand-ins for bugs, in all four languages, by authors who saw prompt and tree alone. Two were wrongly refused, and
  are judged right now: a plain test whose title looks like a template (`$type and $id`) had been given cases of
  a table beside it, and a task's bug had been another fault in the form that shows whether tests look at its text.
  Two suites have tests that notice nothing when the behaviour goes (a constant, a class that is handed on), which no
  suite may list. One of these two also has a test whose fixture fails wherever the behaviour is gone, and that no
  probe touches by itself (`survived-removal`): its author had no way to know. Such a test counts now where the
  behaviour is gone, if it checks something, as one does that calls the code itself. What it checks may be true
  whatever the code does; of both kinds that is a judge's to find, and such a test kills no probe.
- Tests behind fixtures; the listed tests among all others on a mutant, without the longer time that arms give a
  test; in Go all listed tests of a package in one process. Somebody who had read the source attacked the first of
  these with eight submissions; none of them is resolved now. They were judged with the submissions that came with
  them, and such runs were held by themselves for 12 of the thorough honest suites in Python: each is red, or stands
  where the run of all tests never looks.
- Own runs of each listed file on a mutant that it notices, with some other tests before it, and what goes over a
  limit in them. They were judged with the submissions that came with them, and with thorough honest suites in all
  four languages, of which four have several files.
- More marks. They were judged with the submissions that came with them, and read from the text of all others:
  none of them gets or loses a mark. On the 995 test files of 45 projects that their own authors wrote, 37 have one of
  means (tests of code that looks at code), 6 one of records and one that of a copy. The last ones (helpers that
  compare, records beside the code) give none of 1,515 other test files of such projects a mark that it didn't have.
- Tests as pytest collects them. They were judged with the submissions that came with them, and with all suites of
  both corpora whose text may make tests, or whose manifest names others than it shows.
- Tests as vitest collects them, and whatever gives a test its name while a Python file is loaded. They were judged
  with the submissions that came with them; no other suite of both corpora has a manifest or a text that asks for it.
- An own run on a change that keeps the behaviour, own runs that see all tools, fixtures that step aside where the
  code refuses, and a few more marks. Somebody who had read the source wrote thirteen submissions that could get
  through: nine were judged with these rules, as they must, and four are of kinds that verification.md has among its
  limitations. Such runs on two twins each were held by themselves for the 49 thorough honest suites in Python, C and
  TypeScript: all are green. Of eight new honest suites in all four languages, whose author saw prompt and tree alone
  and could run nothing, six were resolved at once; of the other two one had a wrong expectation of its own and one a
  header in a place that a submission may not have, and both are resolved without these.
- Tests whose bodies are empty, failures that fixtures and hooks note against tests (`subtests`, `expect.soft`), seeds
  of fuzz tests, `pytest.toml`, and a probe that changes both clients of redis-py, or all writers of libcsv.
  Somebody who had read the source wrote eight submissions, and one from before had been open in two tasks:
  the six that these are for were judged with them. No honest suite has an empty body or gets one of these marks.
  Ten new honest suites in all four languages, whose author saw prompt and tree alone and could run nothing, were
  judged with them: all ten are resolved, as they were written.
"""
THREATS = (CHECKOUT / "scripts" / "threat_model.md").read_text()
ABOUT = {
    "honest": "Work in many styles that must be resolved, and honest work that isn't enough and must fail by name.",
    "adversarial": "Attempts to be resolved without good tests, and what each must come to.",
}

WITHOUT_A_TEST_RUN = frozenset(
    code
    for code in ReasonCode
    if code in (ReasonCode.EMPTY_SUBMISSION, ReasonCode.UNSAFE_PATH) or code.startswith(("patch-", "manifest-"))
)
"""What is found in a patch and its manifest."""
CHEAP = ("aiosmtpd-proxy-tlv", "jansson-object-merge", "restic-option-strings", "zod-stringbool")
"""The task of each language whose judging costs least."""
OF_EACH_LANGUAGE = frozenset({ReasonCode.SURVIVED_REMOVAL, ReasonCode.PLACEBO_SENSITIVE, ReasonCode.CRITERION_UNMET})
"""What running a suite on other code shows."""
PROBES, MOST_TWINS = 10, 12
GUESSES = f"""## Suites that guess

Tests that know nothing of the code can only guess in which arm they run. The highest chance that such a suite is
resolved, for a task of {PROBES} probes that are all must-haves, computed from the fewest arms that a judging has
(`harness/judging/verify/guessing.py`): either each test passes with the best probability in each arm, or all of them
agree how many arms they fail and choose at random which. The baseline counts as known; one rewriting may look wrong,
and one arm may fail by chance.
"""
VOTES = f"""
Tests that vote don't guess: arms with right code agree with one another, and each mutant differs from all. If
tests find a way to share their results, the control round
([verification.md](verification.md#the-control-round)) is the last defence. It draws three of the kills that a
submission needs, the first from those that took each test a second or more. So it misses votes only where tests that
know the rest wait as long, or where voters needn't wait, or do so while their file is loaded, which no report tells.
The table has the highest chance that it then misses all kills that are known by votes alone, for a task of {PROBES}
probes, where the suite notices the others by itself:
"""
JOBS = 2
HONEYTOKEN = "testwright-honeytoken-6b1f"
"""Planted as a key: no container may see it, no submission find it."""


def main() -> int:
    words = sys.argv[1:]
    flags = {"--sample", "--write", "--check"}
    if wrong := [word for word in words if word not in {*CORPORA, *flags} and not word.startswith("--only=")]:
        print(__doc__ if wrong[0] in ("-h", "--help") else f"validity.py: {wrong[0]} is unknown; see --help")
        return 0 if wrong[0] in ("-h", "--help") else 2
    os.environ["HONEYPOT_API_KEY"] = HONEYTOKEN
    chosen = [name for name in CORPORA if name in words] or list(CORPORA)
    only = [word.removeprefix("--only=") for word in words if word.startswith("--only=")]
    known = PAGE.read_text() if PAGE.exists() else ""
    corpora = {name: read_batch(Catalog(), CHECKOUT / "tests" / name, None) for name in CORPORA}
    status, judged = 0, dict[str, list[Judged]]()
    for name in chosen:
        cases = [case for case in corpora[name] if not only or any(fnmatch(case.name, glob) for glob in only)]
        if "--sample" in words:
            cases = [case for case in sample(corpora)[name] if case in cases]
        judged[name] = judge_cases(cases, "auto", None, JOBS, progress_line(len(cases)))
        status |= report_batch(judged[name], as_json=False)
        told = error_lines(errors(judged[name]))
        print("\n".join([*told, *(f"FAILED {name}/{line}" for line in fault_lines(judged[name]))]))
        lines = [row_of(item) for item in judged[name]]
        said = (
            set(lines) <= set(known.splitlines())
            if len(cases) < len(corpora[name])
            else section(name, cases, lines) in known
        )
        if "--check" in words and not said:
            other = [line for line in lines if line not in known.splitlines()]
            print(f"FAILED {name}: docs/validity.md says something else about this corpus; run make validity")
            print(
                "".join(f"  not there: {line}\n" for line in other) or "  the rows are there, the figures differ\n",
                end="",
            )
            status = 1
    if "--write" in words:
        sections = [section(name, corpora[name], merged(name, corpora[name], judged, known)) for name in CORPORA]
        PAGE.write_text("\n".join([HEAD, THREATS, guesses(), mutation_scores.section(), *sections]))
    return status


def sample(corpora: Mapping[str, Sequence[Case]]) -> dict[str, list[Case]]:
    """What the tests have time for: all that are decided before any test is run; of the others enough to see each
    reason and each note, in each language each verdict and what `OF_EACH_LANGUAGE` names, and agents at work. What
    the sample of one corpus shows needn't be seen in the next.
    """
    seen: set[object] = set()
    return {name: _sample(cases, seen) for name, cases in corpora.items()}


def _sample(cases: Sequence[Case], seen: set[object]) -> list[Case]:
    """Adds what they show to `seen`."""
    shown = {case.name: _shows(case, case.expected) for case in cases if case.expected}
    chosen = {case.name for case in cases if needs_no_test_run(case)}
    seen |= set().union(*(shown[name] for name in chosen))
    dear = {case.name: case.task.id not in CHEAP for case in cases}
    for name in sorted(shown, key=lambda name: (-len(shown[name]), dear[name], name)):  # those that show most first
        if not shown[name] <= seen:
            chosen.add(name)
            seen |= shown[name]
    return [case for case in cases if case.name in chosen]


def needs_no_test_run(case: Case) -> bool:
    """Whether what is expected is found in the patch and its manifest alone."""
    return bool(case.expected and case.expected.codes and WITHOUT_A_TEST_RUN.issuperset(case.expected.codes))


def _shows(case: Case, expected: Expectation) -> set[object]:
    language, codes = case.task.repo.language, {str(code) for code in (*expected.codes, *expected.notes)}
    # What leaves a verdict open is the same in every language.
    where = None if expected.verdict is Verdict.UNSCORED else language
    who = ("agent", expected.verdict) if case.submission is None else ("suite", where, expected.verdict)
    return {*codes, who, *((language, code) for code in OF_EACH_LANGUAGE.intersection(codes))}


def merged(name: str, cases: Sequence[Case], judged: Mapping[str, Sequence[Judged]], page: str) -> list[str]:
    """The rows of a corpus: what was judged now, and of the rest what the page has."""
    now = {item.case.name: row_of(item) for item in judged.get(name, ())}
    kept = {line.split(" | ")[0].removeprefix("| "): line for line in page.splitlines() if line.startswith("| ")}
    if missing := [case.name for case in cases if case.name not in now and case.name not in kept]:
        raise SystemExit(f"docs/validity.md has no row for {', '.join(missing)}; judge them too")
    return [now.get(case.name) or kept[case.name] for case in cases]


def guesses() -> str:
    """The page's section on suites that guess."""
    return "\n".join([GUESSES, *guess_table(PROBES, MOST_TWINS), VOTES, *vote_table(PROBES), ""])


def errors(judged: Sequence[Judged]) -> list[ErrorRates]:
    """Both kinds of error, of all submissions and by language."""
    return error_rates(
        KnownCase(item.case.task.repo.language, is_sufficient(item.case), item.record.verdict is Verdict.RESOLVED)
        for item in judged
    )


def error_lines(rates: Sequence[ErrorRates]) -> list[str]:
    """A line for each kind of error, then a table of the languages, each figure with its interval."""
    whole, *languages = rates
    lines = [
        f"- false refusals: {in_words(whole.refusals, 'sufficient submissions refused')}",
        f"- false acceptances: {in_words(whole.acceptances, 'insufficient submissions accepted')}",
    ]
    head = ["", "| language | false refusals | false acceptances |", "|---|---|---|"]
    cells = [f"| {item.group} | {in_words(item.refusals)} | {in_words(item.acceptances)} |" for item in languages]
    return [*lines, *head, *cells]


def in_words(found: Rate | None, what: str = "") -> str:
    """`0 of 22 refused, 95% interval 0% to 15%`; a dash where nothing was counted."""
    return f"{f'{found.part} of {found.whole} {what}'.strip()}, {found.interval}" if found else "-"


def is_sufficient(case: Case) -> bool:
    """Whether a submission must be resolved."""
    return case.expected is not None and case.expected.verdict is Verdict.RESOLVED


def row_of(item: Judged) -> str:
    why = ", ".join(_why(item)) or "-"
    return f"| {item.case.name} | {item.case.task.id} | {item.record.verdict} | {why} |"


def section(name: str, cases: Sequence[Case], lines: Sequence[str]) -> str:
    """A corpus on the page: figures, then a row for each of its submissions."""
    head = ["| submission | task | verdict | reasons and notes |", "|---|---|---|---|"]
    answers = [
        KnownCase(case.task.repo.language, is_sufficient(case), line.split(" | ")[2] == Verdict.RESOLVED)
        for case, line in zip(cases, lines, strict=True)
    ]
    told = error_lines(error_rates(answers))
    return "\n".join([f"## {name.capitalize()} corpus\n", ABOUT[name], "", *told, "", *head, *lines, ""])


def _why(item: Judged) -> list[str]:
    """What was expected and came; what else came may differ from one judging to the next.

    So may which one it is of several that are enough: all of them are told then.
    """
    expected = item.case.expected
    if expected is None:
        return []
    came = {reason.code for reason in item.record.reasons} | {note.code for note in item.record.notes}
    reasons, notes = ([code.value for code in codes if code in came] for codes in (expected.codes, expected.notes))
    enough = [] if came.isdisjoint(expected.any_of) else [f"one of: {' / '.join(expected.any_of)}"]
    return [*reasons, *enough, *notes, *expected.criteria, *([f"ended by {item.ending}"] if expected.ending else [])]


if __name__ == "__main__":
    sys.exit(main())
