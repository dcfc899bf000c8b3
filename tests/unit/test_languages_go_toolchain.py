"""Go variants as text, and what comes back from the container that compiles them."""

from random import Random

import pytest

from harness.languages.go.toolchain import FORMS, _form, _running, _Texts
from harness.languages.registry import LANGUAGES
from harness.languages.rewriting import add_inert_code, rewrite
from harness.languages.variant_source import VariantSource
from harness.sandbox.protocol import JobResult
from harness.specs.errors import UserError
from harness.specs.variants import VariantKind

PRISTINE = b"""\
package size

import (
	"fmt"
	"strings"
)

func Parse(s string) (int, error) {
	s = strings.TrimSpace(s)
loop:
	for {
		break loop
	}
	return len(s), fmt.Errorf("no %s", s)
}
"""
REMOVED = b"""\
package size

func Parse(s string) (int, error) {
	return 0, nil
}
"""
PATH = "internal/size/size.go"


def hidden() -> VariantSource:
    return VariantSource(
        *("removal-pristine-source", VariantKind.REMOVAL_PRISTINE_SOURCE, {PATH: PRISTINE}, {PATH: REMOVED}),
        dead={PATH: PRISTINE},
    )


def result(outputs: dict[str, bytes]) -> JobResult:
    return JobResult(0, False, False, b"", outputs, True, 1.0)


def test_go_files_are_compiled_and_others_are_not():
    code = LANGUAGES.get("go").code
    assert code.is_code("internal/size/size.go")
    assert not code.is_code("internal/size/testdata/size.txt")


def test_comments_stand_behind_the_code_and_are_no_directives():
    text = LANGUAGES.get("go").code.commented(b"package x\n", ["go:build never", ""])
    assert text == b"package x\n// go:build never\n// \n// \n"


def test_inert_code_renames_labels_and_runs_the_live_body_alone():
    text = add_inert_code(FORMS, REMOVED, PRISTINE, "never").decode()
    assert text.count("return 0, nil") == 1
    assert text.count("strings.TrimSpace") == 2
    assert "loop_nevera:" in text
    assert "break loop_neverb" in text
    assert text.endswith("var never uint32\n")


def test_a_removal_that_holds_the_dead_code_has_its_imports_as_well():
    text = _running(hidden(), PATH, Random(1)).decode()
    assert text.startswith('package size; import "fmt"; import "strings"\n')


def test_an_import_that_nothing_uses_is_not_taken_over():
    other = VariantSource("x", VariantKind.PROBE, {}, {PATH: REMOVED}, dead={PATH: REMOVED + b'import "os"\n'})
    assert _running(other, PATH, Random(1)) == REMOVED


@pytest.mark.parametrize("seed", range(10))
def test_a_rewriting_puts_statements_between_those_of_a_function(seed: int):
    text = rewrite(FORMS, PRISTINE, [9], Random(seed), "own").decode()
    assert text.count("\tvar own") == 0
    assert text.count("own = ") >= 1
    assert len({rewrite(FORMS, PRISTINE, [9], Random(other), "own") for other in range(10)}) == 10


def test_the_text_as_written_is_at_hand_where_the_rewritten_one_does_not_compile():
    texts = _Texts(hidden(), Random(1))
    assert texts.prepared(_form(0, hidden(), result({"0000": b"plain\n"}))).running == {PATH: REMOVED}
    assert texts.prepared(_form(0, hidden(), result({"0000": b"rewritten\n"}))).running != {PATH: REMOVED}


def test_a_variant_that_does_not_compile_is_named_with_the_compilers_words():
    said = b"# github.com/x/size\ninternal/size/size.go:3:1: syntax error\nmore\n"
    with pytest.raises(
        UserError, match=r"variant removal-pristine-source .*: internal/size/size.go:3:1: syntax error$"
    ):
        _form(0, hidden(), result({"0000.error": said}))


def test_every_variant_brings_the_same_files_to_the_compiler():
    def names(source: VariantSource) -> list[str]:
        return [file.path for file in _Texts(source, Random(1)).files(0, "/go/src/x")]

    pristine = VariantSource("baseline", VariantKind.BASELINE, {PATH: PRISTINE}, {PATH: PRISTINE})
    assert names(pristine) == names(hidden())
