"""Designed cases as they are read: what is taken, what is refused and on which line, and both forms alike."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.design.images import validator
from harness.plugins.design.played import read_design
from harness.plugins.design.reading import MAX_BYTES, MAX_CASES, MAX_STEPS, TooMany, read_cases
from harness.plugins.design.vocabulary import Vocabulary
from tests.support.designs import shipped

VOCABULARY = Vocabulary.model_validate(
    {
        "schema_version": 1,
        "clock": True,
        "operations": {
            "put": {
                "means": "Something is put there.",
                "step": 'a {thing} called "{name}" is put there',
                "fields": {"thing": {"type": "new-label"}, "name": {"type": "text", "max": 20}},
            },
            "take": {
                "means": "So many are taken.",
                "step": "{count} of {thing} are taken, {how}, until {until}",
                "or_step": ["{thing} is taken", "{thing} is taken, gently: {gently}"],
                "fields": {
                    "thing": {"type": "label"},
                    "count": {"type": "integer", "min": -2, "max": 99, "default": 1},
                    "how": {"type": "choice", "of": ["at-once", "later"], "default": "later"},
                    "until": {"type": "datetime", "default": "2026-01-01T00:00"},
                    "gently": {"type": "flag", "default": False},
                },
            },
            "open": {"means": "The place is opened.", "step": "the place is opened", "in": ["given"]},
        },
        "outcomes": {
            "taken": {
                "means": "They are taken.",
                "step": '"{name}" is taken on {day}',
                "fields": {"name": {"type": "text"}, "day": {"type": "date"}},
            },
            "nothing": {
                "means": "Nothing is taken.",
                "step": "nothing is taken",
                "or_step": ["nothing is taken since {why}"],
                "fields": {"why": {"type": "choice", "of": ["gone", "closed"], "optional": True}},
            },
        },
    }
)
PUT = "{op: put, thing: A, name: a}"
NOTHING = "then: {outcome: nothing}"


def faults(text, name="design/cases.yaml"):
    data = text if isinstance(text, bytes) else text.encode()
    cases, found = read_design(data, name, VOCABULARY)
    assert not (cases and found)
    return [f"{fault.line}: {fault.words}" for fault in found]


def one(text, name="design/cases.yaml"):
    cases, found = read_design(text.encode(), name, VOCABULARY)
    assert not found, found[0].words
    [case] = cases
    return case


def test_a_case_has_its_steps_its_times_and_its_defaults():
    case = one(
        f"""\
- id: TC-01
  partition: 'one, taken late: "x"'
  given: [{{op: open}}, {PUT}]
  when: {{op: take, at: +1d2h3m4s5ms, thing: A}}
  then: {{outcome: taken, name: "a", day: 2026-02-28}}
"""
    )
    assert [(step.op, step.ms) for step in case.given] == [("open", 0), ("put", 0)]
    assert case.when.ms == 93_784_005
    assert case.when.fields == {
        "thing": "A",
        "count": 1,
        "how": "later",
        "until": "2026-01-01T00:00",
        "gently": False,
    }
    assert (case.then.outcome, case.then.fields) == ("taken", {"name": "a", "day": "2026-02-28"})


@pytest.mark.parametrize("written", ["0123", "yes", "12:30", "1e3", "null", "2026-01-01", "~x", "0x1F"])
def test_a_scalar_is_what_it_looks_like(written):
    quoted = f'"{written}"' if written == "null" else written
    case = one(f"- {{id: T, when: {{op: put, thing: A, name: {quoted}}}, {NOTHING}}}")
    assert case.when.fields["name"] == written


def test_gherkin_and_yaml_say_the_same():
    written = one(
        f"""\
- id: TC-01
  partition: taken at once
  given: [{{op: open}}, {{op: put, thing: A, name: 'a "b" \\'}}]
  when: {{op: take, at: +29m59s, thing: A, count: -2, how: at-once, until: 2026-03-29T01:30}}
  {NOTHING}
"""
    )
    spoken = one(
        """\
Feature: things
  Words that nobody reads.

  @tag
  Scenario: TC-01 taken at once
    # a comment
    Given the place is opened
    And a A called "a \\"b\\" \\\\" is put there
    When at +29m59s, -2 of A are taken, at-once, until 2026-03-29T01:30
    Then nothing is taken
""",
        "design/cases.feature",
    )
    assert spoken == written


@pytest.mark.parametrize(
    ("said", "fields"),
    [("nothing is taken", {}), ("nothing is taken since gone", {"why": "gone"})],
)
def test_a_sentence_leaves_out_what_may_be_left_out(said, fields):
    case = one(f'Scenario: T\nGiven a A called "" is put there\nWhen A is taken\nThen {said}', "cases.feature")
    assert case.then.fields == fields
    assert (case.when.fields["count"], case.when.fields["gently"]) == (1, False)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "0: there is no case"),
        ("[]", "0: there is no case"),
        (b"\xff\xfe", "0: not UTF-8"),
        ("x" * (MAX_BYTES + 1), f"0: larger than {MAX_BYTES} bytes"),
        ("id: T", "1: expected a list of cases, each beginning with '- id: ...'"),
        ("- [T]", "1: a case must be a mapping such as {op: NAME, field: value}"),
        ("- {id: T", "1: not YAML: expected ',' or '}', but got '<stream end>'"),
        (f"- {{id: T, when: {PUT}}}", "1: the case has no 'then'"),
        (f"- {{id: 1T, when: {PUT}, {NOTHING}}}", "1: id '1T': a letter, then letters, digits, - and _; at most 40"),
        (f"- {{id: T, if: x, when: {PUT}, {NOTHING}}}", "1: unknown key 'if' of a case; known: "),
        (f"- &a {{id: T, when: {PUT}, {NOTHING}}}\n- *a", "1: aliases and anchors are not allowed; write the value"),
        (f"- {{id: !!str T, when: {PUT}, {NOTHING}}}", "1: tags such as !!str are not allowed"),
        ("--- []\n--- []", "2: a second document; only one is allowed"),
        ("%TAG ! x\n--- []", "1: directives such as %TAG are not allowed"),
        ("- [[[[[[[]]]]]]]", "1: nested too deeply"),
        (f"- {{id: T, id: U, when: {PUT}, {NOTHING}}}", "1: key 'id' is there twice"),
        (f"- {{id: T, when: {{op: put, thing: A, name: }}, {NOTHING}}}", '1: nothing stands here; write "" for an'),
        (f"- {{id: T, when: {{op: lift}}, {NOTHING}}}", "1: unknown op 'lift'; known: put, take, open"),
        (f"- {{id: T, when: {{op: open}}, {NOTHING}}}", "1: open can't stand in 'when'"),
        (f"- {{id: T, when: {{op: put, thing: A}}, {NOTHING}}}", "1: put needs the field 'name'"),
        (f"- {{id: T, when: {{op: put, thing: A, name: a, x: 1}}, {NOTHING}}}", "1: put has no field 'x'; it has: "),
        (f"- {{id: T, when: {PUT}, then: {{outcome: any}}}}", "1: unknown outcome 'any'; known: taken, nothing"),
        (f"- {{id: T, when: {{op: take, thing: A}}, {NOTHING}}}", "1: take.thing: no step before makes 'A'"),
        (
            f"- {{id: T, when: {{op: put, thing: A, name: [a]}}, {NOTHING}}}",
            "1: name: expected one value, not a list",
        ),
        (f'- {{id: T, when: {{op: put, thing: A, name: "a\\x1b"}}, {NOTHING}}}', "1: put.name: control characters"),
        (
            f"- {{id: T, when: {{op: put, thing: A, name: {'a' * 21}}}, {NOTHING}}}",
            "1: put.name: 21 characters, at mo",
        ),
        (f"- {{id: T, given: {PUT}, when: {PUT}, {NOTHING}}}", "1: given: expected a list of steps"),
        (
            f"- {{id: T, given: [{PUT}], when: {{op: take, thing: A, count: 1.5}}, {NOTHING}}}",
            "1: take.count: '1.5' is",
        ),
        (
            f"- {{id: T, given: [{PUT}], when: {{op: take, thing: A, count: 100}}, {NOTHING}}}",
            "1: take.count: 100 is n",
        ),
        (
            f"- {{id: T, given: [{PUT}], when: {{op: take, thing: A, count: 0123}}, {NOTHING}}}",
            "1: take.count: '0123'",
        ),
        (
            f"- {{id: T, given: [{PUT}], when: {{op: take, thing: A, gently: yes}}, {NOTHING}}}",
            "1: take.gently: write",
        ),
        (
            f"- {{id: T, given: [{PUT}], when: {{op: take, thing: A, how: soon}}, {NOTHING}}}",
            "1: take.how: 'soon' is n",
        ),
        (
            f"- {{id: T, given: [{PUT}], when: {{op: take, thing: A, until: 2026-02-30T00:00}}, {NOTHING}}}",
            "1: take.until: '2026-02-30T00:00' is no datetime such as 2026-03-29T01:30",
        ),
        (f"- {{id: T, when: {{op: put, at: 5m, thing: A, name: a}}, {NOTHING}}}", "1: at: '5m' is no time such as"),
        (
            f"- {{id: T, when: {{op: put, at: +1s1m, thing: A, name: a}}, {NOTHING}}}",
            "1: at: '+1s1m' is no time such",
        ),
        (f"- {{id: T, when: {{op: put, at: +99999d, thing: A, name: a}}, {NOTHING}}}", "1: at: more than 20 years"),
        (
            f"- {{id: T, given: [{{op: open, at: +2s}}], when: {{op: put, at: +1s, thing: A, name: a}}, {NOTHING}}}",
            "1: time goes backward here: 'at' counts from the start of the case",
        ),
        (
            f"- {{id: T, given: [{', '.join(['{op: open}'] * (MAX_STEPS + 1))}], when: {PUT}, {NOTHING}}}",
            f"1: given: more than {MAX_STEPS} steps",
        ),
        (f"- {{id: T, when: {PUT}, {NOTHING}}}\n" * 2, "2: case T is there already, in line 1"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(text, told):
    [fault] = faults(text)
    assert fault.startswith(told)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "0: there is no case"),
        ("When the place is opened", "1: a step before the first scenario"),
        ("Scenario: T\nSome words", "2: neither a scenario nor a step: 'Some words'"),
        ("Scenario Outline: T\n", "1: Scenario Outline is not read; write each scenario out"),
        ("Background:\n", "1: Background is not read; write each scenario out"),
        ("Scenario: T\nGiven the moon is full", "2: unknown step 'the moon is full'; vocabulary.yaml has the steps"),
        (
            "Scenario: T\nThen the place is opened",
            "2: unknown step 'the place is opened'; vocabulary.yaml has the st",
        ),
        ("Scenario: T\nAnd the place is opened", "2: And comes first here; begin with Given or When"),
        (
            "Scenario: T\nWhen the place is opened\nGiven the place is opened",
            "3: a scenario has Given steps, one When and one Then, in this order",
        ),
        ("Scenario: T\nThen nothing is taken\nThen nothing is taken", "3: a scenario has one Then"),
        ('Scenario: T\nGiven a A called "a is put there', "2: unknown step"),
    ],
)
def test_gherkin_that_cannot_be_read_is_told_with_its_line(text, told):
    [fault] = faults(text, "design/cases.feature")
    assert fault.startswith(told)


def test_all_faults_of_a_design_are_told():
    text = f"- {{id: T, when: {PUT}}}\n- {{id: U, when: {PUT}, {NOTHING}}}\n- {{when: {PUT}, {NOTHING}}}\n"
    assert faults(text) == ["1: the case has no 'then'", "3: the case has no 'id'"]


@pytest.mark.parametrize("more", [0, 1])
def test_forty_cases_count_and_no_more(more):
    text = "".join(f"- {{id: T{number}, when: {PUT}, {NOTHING}}}\n" for number in range(MAX_CASES + more))
    cases, found = read_design(text.encode(), "design/cases.yaml", VOCABULARY)
    assert (len(cases), [type(fault) for fault in found]) == ((0, [TooMany]) if more else (MAX_CASES, []))


@given(
    st.one_of(st.binary(max_size=300), st.text(max_size=300).map(str.encode)), st.sampled_from(["yaml", "feature"])
)
def test_no_bytes_raise_an_error(data, form):
    cases, found = read_design(data, f"design/cases.{form}", VOCABULARY)
    assert not cases or not found


TEXTS = st.text(st.characters(exclude_categories=("Cc", "Cs", "Co", "Zl", "Zp")), max_size=20)


@given(TEXTS, st.integers(-2, 99), st.integers(0, 10**9))
def test_what_a_case_says_comes_back_from_both_forms(name, count, ms):
    row = {
        "id": "T",
        "given": [{"op": "put", "thing": "A", "name": name}],
        "when": {"op": "take", "at": f"+{ms}ms" if ms < 10**9 else "+1d", "thing": "A", "count": str(count)},
        "then": {"outcome": "nothing"},
    }
    written = json.dumps([row], ensure_ascii=False)
    case = one(written)
    assert (case.given[0].fields["name"], case.when.fields["count"]) == (name, count)
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    spoken = one(
        f'Scenario: T\nGiven a A called "{escaped}" is put there\n'
        f"When at +{case.when.ms // 1000}s{case.when.ms % 1000}ms, {count} of A are taken, later, "
        "until 2026-01-01T00:00\nThen nothing is taken",
        "cases.feature",
    )
    assert spoken == case


def test_agents_are_told_by_the_validator_what_the_harness_finds(tmp_path):
    task = shipped("password-reset")
    (tmp_path / "validate.pyz").write_bytes(validator(task))
    (tmp_path / "cases.yaml").write_bytes(task.patch("reference/cases.yaml"))
    (tmp_path / "wrong.yaml").write_text("- id: T\n")
    command = [sys.executable, "-I", "validate.pyz"]
    done = subprocess.run([*command, "cases.yaml"], cwd=tmp_path, capture_output=True, text=True, check=False)
    count = len(task.cases("reference/cases.yaml"))
    assert done.stdout.startswith(f"cases.yaml: {count} of at most 40 cases, all readable\n- file: cases.yaml\n")
    assert done.returncode == 0
    done = subprocess.run([*command, "wrong.yaml"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "wrong.yaml:1: the case has no 'when'\n")


def test_a_vocabulary_of_json_is_all_that_reading_needs():
    """The validator has no models: what it reads by is plain JSON."""
    plain = json.loads(json.dumps(VOCABULARY.compiled))
    cases, found = read_cases(f"- {{id: T, when: {PUT}, {NOTHING}}}".encode(), "cases.yaml", plain)
    assert (len(cases), found) == (1, [])
