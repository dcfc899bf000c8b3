"""C variants as text, and what comes back from the container that compiles them."""

import hashlib
from dataclasses import replace

import pytest

from harness.judging.languages.c.language import LIBRARY, _compiled, _made, _placed
from harness.judging.languages.registry import LANGUAGES
from harness.judging.languages.variant_source import VariantSource
from harness.sandbox.protocol import JobResult
from harness.specs.errors import UserError
from harness.specs.variants import VariantKind

LOOP = b"""\
int total(list_t *list) {
    int sum = 0;
    item_t *item;

    /* all */
    list_foreach(list, item) /* one */ {
        sum += item->value;
    }
out:
    return sum;
}
"""
PRISTINE = {"src/a.c": LOOP, "src/a.h": b"#define A 1\n"}
REMOVED = {**PRISTINE, "src/a.c": b"int total(list_t *list) {\n    abort();\n}\n"}


REPEATED = b"""\
static int add(int *sum, int value) { return *sum += value; }
int total(list_t *list, const char *text) {
    int sum = 0;
    item_t *item;

    list_foreach(list, item) add(&sum, weight(item, strlen(text)));
    return WRAP({ int own = sum; own; });
}
"""


def hidden() -> VariantSource:
    return VariantSource("removal-1", VariantKind.REMOVAL, PRISTINE, REMOVED)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def seeded(seed: int) -> VariantSource:
    family = {path: (PRISTINE[path], REMOVED[path]) for path in PRISTINE}
    return replace(hidden(), family=family, inert=family, seed=seed)


def test_sources_are_compiled_and_headers_are_not():
    code = LANGUAGES.get("c").code
    assert code.is_code("src/value.c")
    assert not code.is_code("src/jansson.h")


def test_lines_stand_behind_the_code_as_comments_and_end_there():
    text = LANGUAGES.get("c").code.commented(b"int a;\n\n", ["return 1;", "#define B \\"])
    assert text == b"int a;\n// return 1;\n// #define B \\\n// \n"


def test_a_variant_without_a_seed_is_laid_out_as_it_is_written():
    placed = {file.path: file.data for file in _placed(7, hidden())}
    assert placed == {
        "/tmp/variants/0007/code/src/a.c": REMOVED["src/a.c"],
        "/tmp/variants/0007/code/src/a.h": PRISTINE["src/a.h"],
        "/tmp/variants/0007/flags": b"-O1 -w",
    }


def test_a_seed_rewrites_sources_and_no_headers_another_way_for_each_number():
    sources = [{file.path.rpartition("/")[2]: file.data for file in _placed(0, seeded(seed))} for seed in range(8)]
    assert len({placed["a.c"] for placed in sources}) == 8
    assert {placed["a.h"] for placed in sources} == {PRISTINE["src/a.h"]}
    assert all(b"abort();" in placed["a.c"] and b"list_foreach" in placed["a.c"] for placed in sources)


def rewritten(text: bytes) -> list[bytes]:
    family = {"a.c": (text, text.replace(b"sum = 0", b"sum = 1"))}
    source = VariantSource("rewritten-1", VariantKind.TWIN, {}, {"a.c": text}, family=family, inert={"a.c": ()})
    placed = [_placed(0, replace(source, seed=seed)) for seed in range(12)]
    return [file.data for files in placed for file in files if file.path.endswith("a.c")]


def test_what_a_macro_repeats_is_called_by_its_name():
    texts = rewritten(REPEATED)
    assert len(set(texts)) == 12
    assert all(b"list_foreach(list, item) add(" in text for text in texts)


def test_the_last_statement_of_a_block_among_arguments_stays_its_value():
    assert all(b" own; });" in text for text in rewritten(REPEATED))


def test_a_second_attempt_is_another_rewriting():
    assert _placed(0, seeded(1)) == _placed(0, seeded(1))
    assert _placed(0, seeded(1), attempt=1) == _placed(0, seeded(2))


def test_an_arm_has_the_text_on_disk_the_library_of_the_code_and_proves_both():
    listed = f"{sha256(REMOVED['src/a.c'])}  src/a.c\n{sha256(b'other')}  src/b.c\n".encode()
    compiled = _compiled(hidden(), b"library", listed)
    on_disk = f"{sha256(LOOP)}  src/a.c\n{sha256(b'other')}  src/b.c\n".encode()
    assert compiled.variant.source == PRISTINE
    assert compiled.variant.code == {f"{LIBRARY}/library.a": b"library", f"{LIBRARY}/sources": on_disk}
    assert compiled.prove[0] == "sha256sum"
    assert compiled.proof == (
        f"{sha256(b'library')}  {LIBRARY}/library.a",
        f"{sha256(on_disk)}  {LIBRARY}/sources",
        f"{sha256(LOOP)}  src/a.c",
        f"{sha256(PRISTINE['src/a.h'])}  src/a.h",
    )


def test_a_variant_that_does_not_compile_is_named_with_the_compilers_words():
    log = b"src/a.c: In function 'total':\nsrc/a.c:2:5: error: no such thing\nrun_tests: the library does not build\n"
    result = JobResult(
        exit_status=2, timed_out=False, out_of_memory=False, log=log, outputs={}, complete=True, seconds=1.0
    )
    with pytest.raises(UserError, match=r"removal-1 .* src/a\.c:2:5: error: no such thing"):
        _made(0, hidden(), result)
