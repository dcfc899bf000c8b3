"""Prints models, as tables or JSON: settings, price and key."""

import json
import os
from typing import Any

from harness.models.build import Models, check_known, missing_keys
from harness.models.price_table import has_price
from harness.results.report.tables import console, table
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.model_file import ModelFile


def report_models(catalog: Catalog, as_json: bool) -> int:
    """Print the model files of a catalog; return the exit status."""
    files = {name: catalog.model(name) for name in catalog.model_names()}
    if as_json:
        print(json.dumps([{"name": name, **_written(file)} for name, file in files.items()], indent=2))
        return 0
    rows = [(name, file.model, file.effort or "-", file.api_base or "-", file.title) for name, file in files.items()]
    console().print(table(("name", "model", "effort", "served at", "title"), rows))
    return 0


def report_model(catalog: Catalog, name: str, as_json: bool) -> int:
    """Print everything that a run would use of a model, which may be a bare PROVIDER/MODEL.

    Raises:
        UserError: There is no such model.
    """
    file = Models(catalog).file(name)
    if file is None:
        raise UserError(f"{name}: a recording has no settings; it costs nothing")
    check_known(name, file)
    facts = _written(file) | {"digest": file.digest, "price": _price(file), "key": _key(file)}
    if as_json:
        print(json.dumps({"name": name, **facts}, indent=2))
    else:
        rows = [(key, _word(value)) for key, value in facts.items() if value not in (None, "")]
        console().print(table(("key", "value"), rows))
    return 0


def _written(file: ModelFile) -> dict[str, Any]:
    written: dict[str, Any] = file.model_dump(mode="json", exclude={"schema_version"})
    return written


def _price(file: ModelFile) -> str:
    if file.prices:
        return "by the model file"
    return "known" if has_price(file) else "unknown: a cap on money can't be held; write `prices` into a model file"


def _key(file: ModelFile) -> str:
    if file.api_key_env is None:
        missing = missing_keys(file)
        return f"{' or '.join(missing)}: not set" if missing else "the provider's usual variable"
    return f"{file.api_key_env}: {'set' if os.environ.get(file.api_key_env) else 'not set'}"


def _word(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {found}" for key, found in value.items() if found is not None) or "-"
    return str(value)
