import sys

import pytest

from scripts import schemas


def test_the_schemas_in_docs_are_those_of_the_models(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["schemas.py", "--check"])
    assert schemas.main() == 0, capsys.readouterr().err
