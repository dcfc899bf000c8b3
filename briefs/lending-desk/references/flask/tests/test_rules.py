from datetime import UTC, datetime, timedelta

import pytest

from lending.rules import Refused, checked_date, checked_days, checked_name, checked_password, checked_tool, in_days


def refuses(check, text, words):
    with pytest.raises(Refused) as refused:
        check(text)
    assert refused.value.status == 400
    assert words in str(refused.value)


def test_names():
    assert checked_name(" Ed ") == "Ed"
    assert checked_name("x" * 40) == "x" * 40
    for name in ("", "x", " x ", "x" * 41):
        refuses(checked_name, name, "A name has 2 to 40 characters.")


def test_passwords():
    assert checked_password(" 2345678") == " 2345678"
    refuses(checked_password, "1234567", "A password has at least 8 characters.")


def test_tools():
    assert checked_tool(" x ") == "x"
    assert checked_tool("x" * 80) == "x" * 80
    for name in ("", "  ", "x" * 81):
        refuses(checked_tool, name, "A tool has a name of 1 to 80 characters.")


def test_days():
    assert [checked_days(text) for text in ("1", "07", "14")] == [1, 7, 14]
    for text in ("", "0", "15", "-1", "1.5", "x", "100"):
        refuses(checked_days, text, "A loan is for 1 to 14 days.")


def test_dates():
    assert checked_date("2024-02-29") == "2024-02-29"
    for text in ("", "x", "2025-02-29", "2025-13-01", "20250101", "2025-1-1"):
        refuses(checked_date, text, "A date looks like 2026-01-31.")


def test_days_from_today():
    before = datetime.now(UTC).date()
    found = in_days(3)
    after = datetime.now(UTC).date()
    assert found in {(day + timedelta(days=3)).isoformat() for day in (before, after)}
