"""JSON Schemas of file formats: those in docs are the models', and each format that people write has one."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts import schemas

HARNESS = Path(__file__).parents[2] / "harness"
LOADER = "load_yaml"
NO_FORMATS = {"model", "_Head"}
"""The loader's own parameter, and the part of a task's file that must be known before the rest."""


def test_the_schemas_in_docs_are_those_of_the_models(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["schemas.py", "--check"])
    assert schemas.main() == 0, capsys.readouterr().err


def models_read(text: str) -> Iterator[str]:
    """Yield the names of models as which a module reads YAML files."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == LOADER:
            given = [*node.args[1:2], *(each.value for each in node.keywords if each.arg == "model")]
            yield from (ast.unparse(each).rpartition(".")[2] for each in given)


def test_what_a_module_reads_is_found() -> None:
    calls = ("load_yaml(a / B, One)", "files.load_yaml(c, d.Two, {})", "load_yaml(path=e, model=Three)", "read(f, g)")
    assert list(models_read("\n".join(calls))) == ["One", "Two", "Three"]


def test_each_format_that_is_read_from_yaml_has_a_schema() -> None:
    known = {getattr(model, "__name__", "") for model in schemas.MODELS.values()} | NO_FORMATS
    texts = {path: path.read_text() for path in HARNESS.rglob("*.py")}
    without = {
        f"{path.relative_to(HARNESS)}: {name}"
        for path, text in texts.items()
        if LOADER in text
        for name in models_read(text)
        if name not in known
    }
    assert not without, "add these models to MODELS in scripts/schemas.py, then run make schemas"
