"""Registries: built-in names, entry points of other packages, and what is said of a name that nobody registered."""

import sys
from pathlib import Path

import pytest

from harness.specs.errors import UserError
from harness.specs.registry import Registry

PLUGIN = "[testwright.shapes]\ncircle = shapes_of_others:CIRCLE\nbroken = shapes_of_others:ABSENT\nsquare = x:Y\n"


@pytest.fixture
def shapes() -> Registry[object]:
    return Registry("shape", "testwright.shapes", {"square": "harness.specs.errors:UserError"})


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution of somebody else's that registers shapes, installed as pip would."""
    info = tmp_path / "shapes_of_others-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shapes-of-others\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(PLUGIN)
    (tmp_path / "shapes_of_others.py").write_text("CIRCLE = 'round'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "shapes_of_others", raising=False)


def test_a_builtin_is_imported_by_its_name(shapes: Registry[object]) -> None:
    assert shapes.get("square") is UserError


def test_another_package_registers_by_an_entry_point(shapes: Registry[object], plugin: None) -> None:
    assert shapes.names == ("broken", "circle", "square")
    assert shapes.get("circle") == "round"


def test_an_entry_point_does_not_replace_a_builtin(shapes: Registry[object], plugin: None) -> None:
    assert shapes.get("square") is UserError


def test_an_entry_point_that_cannot_be_imported_is_named(shapes: Registry[object], plugin: None) -> None:
    with pytest.raises(UserError, match=r"shape 'broken' \(shapes_of_others:ABSENT\) can't be imported"):
        shapes.get("broken")


def test_a_misspelt_name_is_an_error_with_the_near_one(shapes: Registry[object]) -> None:
    with pytest.raises(UserError, match="unknown shape 'sqaure'; did you mean 'square'"):
        shapes.check("sqaure")


def test_registered_in_this_process_and_taken_back(shapes: Registry[object]) -> None:
    shapes.register("oval", 1)
    assert shapes.get("oval") == 1
    with pytest.raises(ValueError, match="registered already"):
        shapes.register("oval", 2)
    shapes.unregister("oval")
    with pytest.raises(UserError, match="unknown shape 'oval'"):
        shapes.get("oval")
