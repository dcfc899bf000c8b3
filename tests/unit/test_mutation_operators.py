"""Mutation operators of every language: which changes they make, and which they leave alone."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_sitter import Parser

from harness.judging.languages.c.catalogue import GRAMMAR as C_GRAMMAR
from harness.judging.languages.go.language import ON_DISK as GO
from harness.judging.languages.mutating import Mutation, Operator
from harness.judging.languages.registry import LANGUAGES
from harness.judging.languages.typescript.rewriting.catalogue import GRAMMAR as TS_GRAMMAR
from harness.judging.verify.mutants.candidates import Candidates, MutantCandidate
from harness.judging.verify.mutants.records import (
    MutantRecord,
    MutantsFile,
    MutantStatus,
    SourceRange,
    stryker_report,
)
from harness.specs.catalog_places import default_directory

PATHS = {"python": "a.py", "go": "a.go", "c": "a.c", "typescript": "a.ts"}


def mutations(language: str, text: str) -> list[Mutation]:
    return LANGUAGES.get(language).mutation.mutations(text.encode(), PATHS[language])  # type: ignore[union-attr]


def texts(language: str, text: str) -> set[str]:
    return {mutation.of(text.encode()).decode() for mutation in mutations(language, text)}


def go(body: str, head: str = "func f(a, b int) int") -> str:
    return f"package a\n\n{head} {{\n\t{body}\n}}\n"


def c(body: str) -> str:
    return f"int f(int a, int b) {{\n    {body}\n}}\n"


def python(body: str) -> str:
    return f"def f(a, b):\n    {body}\n"


def typescript(body: str) -> str:
    return f"function f(a: number, b: number) {{\n  {body}\n}}\n"


CHANGES = [
    (python, "python", "if a < b: g()", "if a <= b: g()"),
    (python, "python", "if a < b: g()", "if not (a < b): g()"),
    (python, "python", "if a < b: g()", "if a < b: pass"),
    (python, "python", "x = a in b and a is not None", "x = a not in b and a is not None"),
    (python, "python", "x = a in b and a is not None", "x = a in b or a is not None"),
    (python, "python", "x = a in b and a is not None", "x = a in b and a is None"),
    (python, "python", "return a + b * 2", "return a - b * 2"),
    (python, "python", "return a + b * 2", "return a + b / 2"),
    (python, "python", "return a + b * 2", "return a + b * 3"),
    (python, "python", "return a + b * 2", "return None"),
    (python, "python", "x = not a", "x = (a)"),
    (python, "python", "x = a if b else 1", "x = a if not (b) else 1"),
    (python, "python", "while a: g()", "while False: g()"),
    (python, "python", "for x in a: g()", "for x in (): g()"),
    (python, "python", "x = [y for y in a if y > 1]", "x = [y for y in a if not (y > 1)]"),
    (python, "python", "raise ValueError(a)", "pass"),
    (python, "python", "x = 'text'", 'x = ""'),
    (python, "python", "x = True", "x = False"),
    (python, "python", "a += b", "a -= b"),
    (python, "python", "await g()", "pass"),
    (python, "python", "try: g()\n    except E: h()", "try: g()\n    except E: raise"),
    (go, "go", "if a < b { return a }; return b", "if a <= b { return a }; return b"),
    (go, "go", "if a < b { return a }; return b", "if !(a < b) { return a }; return b"),
    (go, "go", "if a < b { return a }; return b", "if a < b { return *new(int) }; return b"),
    (go, "go", "for i := 0; i < b; i++ { g() }", "for i := 0; false && (i < b); i++ { g() }"),
    (go, "go", "for i := 0; i < b; i++ { g() }", "for i := 0; i < b; i-- { g() }"),
    (go, "go", "for i := 0; i < b; i++ { g() }", "for i := 0; i < b; i++ {  }"),
    (go, "go", "return a&b + 1", "return a|b + 1"),
    (go, "go", "if a == 1 && !x { panic(a) }", "if a == 1 || !x { panic(a) }"),
    (go, "go", "if a == 1 && !x { panic(a) }", "if a == 1 && (x) { panic(a) }"),
    (go, "go", "if a == 1 && !x { panic(a) }", "if a == 1 && !x {  }"),
    (c, "c", "if (a < b) return -1;", "if (a <= b) return -1;"),
    (c, "c", "if (a < b) return -1;", "if (!(a < b)) return -1;"),
    (c, "c", "if (a < b) return -1;", "if (a < b) return 0;"),
    (c, "c", "while (a) g(a);", "while (0) g(a);"),
    (c, "c", "while (a) g(a);", "while (a) ;"),
    (c, "c", "a += b << 2;", "a -= b << 2;"),
    (c, "c", "a += b << 2;", "a += b >> 2;"),
    (c, "c", "if (a) goto error;", "if (a) ;"),
    (c, "c", "b = !a || a == 3;", "b = !!(a) || a == 3;"),
    (c, "c", "b = !a || a == 3;", "b = !a && a == 3;"),
    (typescript, "typescript", "if (a === b) throw new Error();", "if (a !== b) throw new Error();"),
    (typescript, "typescript", "if (a === b) throw new Error();", "if (a === b) ;"),
    (typescript, "typescript", "return a ?? b;", "return a && b;"),
    (typescript, "typescript", "return a ?? b;", "return undefined as any;"),
    (typescript, "typescript", "for (const x of y) g(x);", "for (const x of []) g(x);"),
    (typescript, "typescript", "const x = a ? 1 : `b`;", "const x = !(a) ? 1 : `b`;"),
    (typescript, "typescript", "const x = a ? 1 : `b`;", 'const x = a ? 1 : "";'),
    (typescript, "typescript", "try { g(); } catch (e) { h(e); }", "try { g(); } catch (e) {}"),
    (typescript, "typescript", "await g();", ";"),
]


@pytest.mark.parametrize(("around", "language", "before", "after"), CHANGES)
def test_each_operator_makes_its_change(around: Any, language: str, before: str, after: str) -> None:
    assert around(after) in texts(language, around(before))


LEFT_ALONE = [
    ("python", 'def f():\n    """Doc."""\n    log.info("x", 1)\n'),
    ("python", "import os\n\n@decorated(1, 'x')\ndef f(): ...\n"),
    ("python", "x: Literal['a']\n"),
    ("go", 'package a\n\nimport "fmt"\n\ntype T struct { A int `json:"a"` }\n'),
    ("c", '#include "x.h"\n#define A 1\nenum x { ONE = 1 };\n'),
    ("typescript", 'import { a } from "./a";\ntype X = "a" | "b";\ninterface Y { a: 1 }\n'),
]


@pytest.mark.parametrize(("language", "text"), LEFT_ALONE)
def test_what_no_test_could_notice_is_left_alone(language: str, text: str) -> None:
    assert mutations(language, text) == []


def test_a_sum_of_strings_is_no_arithmetic() -> None:
    assert python('return "a" - b') not in texts("python", python('return "a" + b'))
    assert go('return "a" - b') not in texts("go", go('return "a" + b'))


GO_ERRORS = go(
    'n, err := g()\n\tif err != nil {\n\t\treturn "", false, err\n\t}\n\treturn n, ok(n), nil',
    "func f() (name string, found bool, err error)",
)


def test_an_error_that_go_returns_is_lost_on_its_way() -> None:
    made = texts("go", GO_ERRORS)
    assert GO_ERRORS.replace("false, err", "false, nil") in made
    assert GO_ERRORS.replace("return n, ok(n)", "return *new(string), ok(n)") in made
    assert GO_ERRORS.replace("return n, ok(n)", "return n, !(ok(n))") in made


def errors_in(language: str, text: bytes) -> bool:
    grammars = {"go": GO.grammar.language, "c": C_GRAMMAR.language, "typescript": TS_GRAMMAR.language}
    return Parser(grammars[language]).parse(text).root_node.has_error


@pytest.mark.parametrize(("around", "language", "before", "after"), CHANGES)
def test_no_change_breaks_the_grammar(around: Any, language: str, before: str, after: str) -> None:
    text = around(before).encode()
    for mutation in mutations(language, around(before)):
        new = mutation.of(text)
        assert new != text
        if language == "python":
            compile(new.replace(b"await ", b""), "a.py", "exec")
        else:
            assert not errors_in(language, new), mutation


def test_all_mutants_of_our_own_code_are_different_and_compile() -> None:
    for name in ("judging/languages/toolchain.py",):
        text = (default_directory() / "harness" / name).read_text()
        made = mutations("python", text)
        assert len({mutation.of(text.encode()) for mutation in made}) == len(made) > 30
        for mutation in made:
            compile(mutation.of(text.encode()), name, "exec")


def test_the_same_bytecode_is_the_same_code_and_a_line_more_makes_no_other() -> None:
    is_same = LANGUAGES.get("python").mutation.is_same_code  # type: ignore[union-attr]
    assert is_same(b"def f(x):\n    return 2 * 3\n", b"# why\ndef f(x):\n\n    return 6\n")
    assert (
        is_same(b"def f(x):\n    if not x: pass\n    return 1\n", b"def f(x):\n    if x: pass\n    return 1\n")
        is False
    )
    assert not is_same(b"def f(x): return 1\n", b"def f(x): return 1.0\n")
    assert not is_same(b"def f(x): return x\n", b"def f(:\n")


def candidates(text: str) -> Candidates:
    whole = text.encode()
    made = (MutantCandidate(each.identity("a.py", whole), "a.py", each, whole) for each in mutations("python", text))
    return Candidates({"a.py": whole}, tuple(made), {"a.py": frozenset(range(1, len(whole.splitlines()) + 1))})


MANY = python("return [a < b, a + 1, b - 2, a and b, 'x', True, not a, a == b]")


def test_a_mutant_has_one_id_wherever_it_is_drawn_and_more_mutants_have_the_fewer_among_them() -> None:
    known = candidates(MANY)
    assert len({each.id for each in known.mutants}) == len(known.mutants)
    assert known.drawn(5, 0) == candidates(MANY).drawn(5, 0)
    assert {each.id for each in known.drawn(5, 0)} < {each.id for each in known.drawn(9, 0)}
    assert {each.id for each in known.drawn(5, 0)} != {each.id for each in known.drawn(5, 1)}
    assert len(known.drawn(1000, 0)) == len(known.mutants)


def test_a_mutants_place_counts_lines_and_characters_from_one() -> None:
    [record] = [
        each.record for each in candidates("x = 'ä' and y\n").mutants if each.mutation.operator is Operator.LOGICAL
    ]
    assert (record.place, record.original, record.replacement) == (
        SourceRange(line=1, column=9, end_line=1, end_column=12), "and", "or",
    )  # fmt: skip


def kept(*statuses: MutantStatus) -> MutantsFile:
    drawn = candidates(MANY).drawn(len(statuses), 0)
    mutants = tuple(
        each.record.model_copy(
            update={
                "status": status,
                "reason": "why" if status is MutantStatus.IGNORED else "",
                "killed_by": ("a.py::test_x",) if status is MutantStatus.KILLED else (),
            }
        )
        for each, status in zip(drawn, statuses, strict=True)
    )
    return MutantsFile(task="t", seed=0, asked=9, candidates=20, tests=("a.py::test_x",), mutants=mutants)


def test_the_score_is_of_valid_mutants_alone_as_stryker_has_it() -> None:
    assert kept(*MutantStatus).score == 0.5  # killed and timed out of those, survived and not covered
    assert kept(MutantStatus.COMPILE_ERROR, MutantStatus.IGNORED, MutantStatus.PENDING).score is None
    assert kept(MutantStatus.KILLED, MutantStatus.RUNTIME_ERROR).score == 1.0


SCHEMA = Path(__file__).parents[1] / "fixtures" / "mutation-testing-report-schema" / "schema.json"


@given(st.lists(st.sampled_from(list(MutantStatus)), max_size=8))
@settings(max_examples=25, deadline=None)
def test_the_export_is_what_the_published_schema_asks_for(statuses: list[MutantStatus]) -> None:
    report = json.loads(stryker_report(kept(*statuses), {"a.py": MANY.encode()}, "python"))
    jsonschema.Draft7Validator(json.loads(SCHEMA.read_text())).validate(report)
    assert [each["status"] for each in report["files"]["a.py"]["mutants"]] == [status.value for status in statuses]


def test_a_record_is_read_as_it_was_written() -> None:
    file = kept(*MutantStatus)
    assert MutantsFile.model_validate_json(file.model_dump_json()) == file
    assert all(isinstance(each, MutantRecord) for each in file.mutants)
