"""Results as plain data for JSON: dataclasses by their fields, enums by their values, rates with their share."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from harness.analysis.statistics.proportions import Bounds, Rate


def facts(value: Any) -> Any:
    """`value` with nothing in it but dicts, lists, texts, numbers, truth values and None."""
    match value:
        case Enum():
            return value.value
        case None | bool() | int() | float() | str():
            return value
        case Bounds():
            return {"low": value.low, "high": value.high}
        case Rate():
            return {
                "part": value.part,
                "whole": value.whole,
                "share": value.value,
                "low": value.low,
                "high": value.high,
            }
        case BaseModel():
            return value.model_dump(mode="json")
        case Path():
            return str(value)
        case Mapping():
            return {str(facts(key)): facts(item) for key, item in value.items()}
        case _ if is_dataclass(value):
            return {field.name: facts(getattr(value, field.name)) for field in fields(value)}
        case _:
            return [facts(item) for item in value]
