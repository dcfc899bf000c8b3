import pytest

from harness.judging.languages.c.discovery import calls, discover, functions, is_test_file, names, reaches_folder
from harness.judging.languages.registry import LANGUAGES

PATH = "test/suites/api/test_keys.c"
PROGRAM = b"""\
/* Keys. */
#include "util.h"
#include <jansson.h>

#define KEY "a\\0b"

static char *copy_of(const char *key) { return strdup(key); }

static void test_order(void) {
    json_t *object = json_object();
    if (table->get(object) != NULL || json_object_size(object))
        fail("not empty");
    check_error(json_error_null_key, "text", "source", 1, 2, 3);
    assert(object);
}

static void run_tests() { test_order(); }
"""


@pytest.mark.parametrize("path", ["test/suites/api/test_a.c", "test_A-1_b.c", "test/new/test_long_name.c"])
def test_a_test_file_is_named_like_upstreams(path):
    assert is_test_file(path)


@pytest.mark.parametrize("path", ["test.c", "test_.c", "a_test.c", "test_a.cc", "test_a.h", "test_ä.c", "test_a b.c"])
def test_other_names_are_no_test_files(path):
    assert not is_test_file(path)


def test_a_file_is_one_test_named_after_its_program():
    (test,) = discover(PROGRAM, PATH).tests
    assert (test.name, test.short, test.enclosing) == ("test_keys", "test_keys", "")
    assert (test.first_line, test.last_line) == (1, len(PROGRAM.splitlines()))
    assert test.text == PROGRAM


def test_functions_of_a_program_are_no_tests_of_their_own():
    found = discover(PROGRAM, PATH)
    assert found.others == {"copy_of", "test_order", "run_tests"}
    assert not found.twice


def test_a_function_that_has_the_programs_name_hides_nothing():
    found = discover(b"static void test_keys(void) {}", PATH)
    assert found.find("test_keys")
    assert not found.others


@pytest.mark.parametrize("text", [b"", b"\n\n", b"/* nothing */\n// at all\n"])
def test_a_file_without_code_is_no_test(text):
    assert not discover(text, PATH).tests


def test_a_file_of_another_name_is_no_test():
    assert not discover(PROGRAM, "test/suites/api/keys.c").tests


def test_names_are_identifiers_and_what_is_included():
    assert {"util.h", "jansson.h", "json_object", "json_t", "get", "fail"} <= names(PROGRAM)
    assert "not empty" not in names(PROGRAM)


def test_calls_are_functions_and_macros_as_written():
    called = "strdup json_object table->get json_object_size fail check_error assert test_order"
    assert calls(PROGRAM) == set(called.split())


def test_functions_that_return_pointers_are_found():
    assert functions(b"char **a(void) {} struct s *(*b(int x))(void) {} int c() {}") == {"a", "b", "c"}


def test_deeply_nested_code_is_read():
    assert discover(b"int x = " + b"(" * 20_000 + b"1" + b")" * 20_000 + b";", PATH).tests


def test_nothing_in_a_folder_acts_on_programs_unnamed():
    assert not reaches_folder("test/suites/api/util.h", b"#define fail(x)")


def test_c_is_discovered_by_this_module():
    assert LANGUAGES.get("c").discovery.FILE_RULE.startswith("its name must be test_*.c")


def test_macros_are_found_in_the_order_of_their_lines():
    text = "".join(f"#define CHECK_{number}(x) if (!(x)) exit({number})\n" for number in range(1, 200))
    found = [helper.name for helper in discover(text.encode(), "test_a.c").helpers]
    assert found == [f"CHECK_{number}" for number in range(1, 200)]
