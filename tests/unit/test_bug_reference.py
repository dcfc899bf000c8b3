"""A bug's reference has those tests alone that show it, and nothing that only the others needed."""

import pytest

from harness.plugins.bug.making import go_imports_in_use, removed_lines, without_empty_classes, without_empty_groups

SUITE = b"""\
import { describe, expect, test } from "vitest";

const one = 1;

describe("first", () => {
  const two = 2;

  test("adds", () => {
    expect(one + two).toBe(3);
  });
});

describe("second", () => {

  test("counts", () => {
    expect(one).toBe(1);
  });
});
"""
FIRST, SECOND = (8, 10), (15, 17)


def test_a_group_without_a_test_goes_and_others_stay() -> None:
    left = without_empty_groups(removed_lines(SUITE, [FIRST]))
    assert left.decode() == (
        'import { describe, expect, test } from "vitest";\n\nconst one = 1;\n\n'
        'describe("second", () => {\n  test("counts", () => {\n    expect(one).toBe(1);\n  });\n});\n'
    )
    assert b"first" in without_empty_groups(removed_lines(SUITE, [SECOND]))


@pytest.mark.parametrize("call", ["test.each([1])('%i', () => {});", "it('is', () => {});", "test('is', () => {});"])
def test_a_group_with_a_test_of_any_form_stays(call: str) -> None:
    text = f"describe('outer', () => {{\n  describe('inner', () => {{\n    {call}\n  }});\n}});\n".encode()
    assert without_empty_groups(text) == text


def test_groups_within_groups_go_with_the_last_test() -> None:
    text = b"describe('outer', () => {\n  describe('inner', () => {\n  });\n});\n"
    assert without_empty_groups(text).strip() == b""
    beside = text.replace(b"  });\n});", b"  });\n  test('is', () => {});\n});")
    assert without_empty_groups(beside) == b"describe('outer', () => {\n  test('is', () => {});\n});\n"


def test_imports_that_a_removed_test_alone_used_go() -> None:
    text = b'import (\n\t"fmt"\n\t"strings"\n)\n\nvar x = strings.ToLower("A")\n'
    assert go_imports_in_use(text) == b'import (\n\t"strings"\n)\n\nvar x = strings.ToLower("A")\n'


CLASSES = b"""\
import unittest


class First(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(1 + 1, 2)


class Second(unittest.TestCase):
    def test_counts(self):
        self.assertEqual(len("a"), 1)
"""


@pytest.mark.parametrize(("gone", "name"), [((5, 6), b"First"), ((10, 11), b"Second"), ((0, 0), b"Third")])
def test_a_class_without_a_test_goes_and_what_is_left_is_python(gone: tuple[int, int], name: bytes) -> None:
    left = without_empty_classes(removed_lines(CLASSES, [gone] if gone[0] else []))
    compile(left, "test_x.py", "exec")
    assert name not in left
    assert left.count(b"class ") == (1 if gone[0] else 2)
    assert b"\n\n\n\n" not in left
