"""Copies of the code under test outside the tree are found, libraries that it uses aren't."""

import pytest

from harness.authoring.image_search import FoundFile
from harness.authoring.leak_signatures import ORDINARY, copies, telling_parts

REMOVAL = b"""\
diff --git a/shop.py b/shop.py
--- a/shop.py
+++ b/shop.py
@@ -10,5 +10,2 @@ def discounted_price(order):
     total = 0
-    for position in positions_of(order):
-        total += position.amount_in_cents()
-    log.warning("nothing is left of the discount")
-    return wait_closed(total)
+    raise ValueError
"""
TREE = [b"class Order:\n    def positions_of(self):\n        amount_in_cents = 3\n\ndef discounted_price(order):\n"]
PARTS = telling_parts(REMOVAL, TREE)
COPY = b"positions_of discounted_price amount_in_cents nothing is left of the discount"


def test_parts_are_texts_and_names_that_the_tree_defines():
    names = {b"positions_of", b"discounted_price", b"amount_in_cents"}
    assert names | {b"nothing is left of the discount"} == set(PARTS)


def test_each_part_has_the_line_of_the_patch_that_it_comes_from():
    lines = REMOVAL.splitlines()
    assert lines[PARTS[b"discounted_price"] - 1].startswith(b"@@")
    assert b"for position in positions_of" in lines[PARTS[b"positions_of"] - 1]
    assert b"log.warning" in lines[PARTS[b"nothing is left of the discount"] - 1]


@pytest.mark.parametrize("data", [COPY, b"\0".join(COPY.split(b" ")[:3])], ids=["text", "compiled"])
def test_a_copy_is_found_as_text_and_compiled(data):
    found = copies([FoundFile("usr/lib/shop.so", data), FoundFile("etc/passwd", b"root")], PARTS, ["app"])
    assert list(found) == ["usr/lib/shop.so"]


@pytest.mark.parametrize(
    "file",
    [
        FoundFile("app/shop.py", COPY),
        FoundFile("app/cache.zip!shop.py", COPY),
        FoundFile("usr/share/doc/shop.txt", b"call discounted_price or positions_of"),
        FoundFile("usr/lib/other.so", b"\0positions_of\0discounted_price"),
    ],
    ids=["the tree", "an archive in the tree", "a text about it", "names that meet by chance"],
)
def test_the_tree_itself_and_what_only_names_the_code_is_none(file):
    assert not copies([file], PARTS, ["app"])


def test_names_that_stand_everywhere_say_nothing():
    many = [FoundFile(f"usr/{number}", COPY) for number in range(ORDINARY + 1)]
    assert not copies(many, PARTS, ["app"])
