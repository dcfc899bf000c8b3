"""C variants as text, and what comes back from the container that compiles them."""

import hashlib
from random import Random

import pytest

from harness.languages.c.toolchain import FORMS, LIBRARY, _compiled, _made, _placed
from harness.languages.registry import LANGUAGES
from harness.languages.rewriting import add_inert_code, rewrite
from harness.languages.variant_source import VariantSource
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


def hidden() -> VariantSource:
    return VariantSource(
        "removal-pristine-source", VariantKind.REMOVAL_PRISTINE_SOURCE, PRISTINE, REMOVED, dead=PRISTINE
    )


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("seed", range(20))
def test_nothing_comes_between_a_loops_macro_and_its_body(seed: int):
    text = rewrite(FORMS, LOOP, [3], Random(seed), "own").decode()
    assert "list_foreach(list, item) /* one */ {" in text
    assert text.count("static volatile unsigned int own;") == 1


def test_inert_code_renames_labels_and_runs_the_live_body_alone():
    text = add_inert_code(FORMS, REMOVED["src/a.c"], LOOP, "never").decode()
    assert text.count("abort();") == 1
    assert text.count("list_foreach(") == 2
    assert "out_nevera:" in text
    assert "out_neverb:" in text
    assert text.count("static volatile unsigned int never;") == 1


def test_sources_are_compiled_and_headers_are_not():
    code = LANGUAGES.get("c").code
    assert code.is_code("src/value.c")
    assert not code.is_code("src/jansson.h")


def test_lines_stand_behind_the_code_as_comments_and_end_there():
    text = LANGUAGES.get("c").code.commented(b"int a;\n\n", ["return 1;", "#define B \\"])
    assert text == b"int a;\n// return 1;\n// #define B \\\n// \n"


def test_every_variant_is_laid_out_with_all_its_files_and_its_own_flags():
    placed = {file.path: file.data for file in _placed(7, hidden(), Random(1))}
    assert sorted(placed) == [
        "/tmp/variants/0007/code/src/a.c",
        "/tmp/variants/0007/code/src/a.h",
        "/tmp/variants/0007/flags",
    ]
    assert placed["/tmp/variants/0007/flags"] == b"-O1"
    assert b"abort();" in placed["/tmp/variants/0007/code/src/a.c"]
    assert b"list_foreach" in placed["/tmp/variants/0007/code/src/a.c"]


def test_rewritten_code_is_compiled_another_way_each_time():
    lines = {"src/a.c": (3,)}
    source = VariantSource("placebo-code", VariantKind.PLACEBO_CODE, PRISTINE, PRISTINE, rewritten_lines=lines)
    flags = {next(iter(_placed(0, source, Random(seed)))).data for seed in range(20)}
    assert len(flags) > 10
    assert all(b"-fpatchable-function-entry=" in words and b"-O1" not in words for words in flags)


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
    with pytest.raises(UserError, match=r"removal-pristine-source .* src/a\.c:2:5: error: no such thing"):
        _made(0, hidden(), result)
