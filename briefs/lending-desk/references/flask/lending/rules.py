"""Which values are refused, and dates."""

import re
from datetime import UTC, date, datetime, timedelta

DESK, DESK_PASSWORD = "desk", "desk"
MOST_DAYS, MOST_TOOLS = 14, 3


class Refused(Exception):
    def __init__(self, words, status=400):
        super().__init__(words)
        self.status = status


def checked_name(text):
    name = text.strip()
    if not 2 <= len(name) <= 40:
        raise Refused("A name has 2 to 40 characters.")
    return name


def checked_password(text):
    if len(text) < 8:
        raise Refused("A password has at least 8 characters.")
    return text


def checked_tool(text):
    name = text.strip()
    if not 1 <= len(name) <= 80:
        raise Refused("A tool has a name of 1 to 80 characters.")
    return name


def checked_days(text):
    if not re.fullmatch("[0-9]{1,2}", text) or not 1 <= int(text) <= MOST_DAYS:
        raise Refused(f"A loan is for 1 to {MOST_DAYS} days.")
    return int(text)


def checked_date(text):
    try:
        if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            return date.fromisoformat(text).isoformat()
    except ValueError:
        pass
    raise Refused("A date looks like 2026-01-31.")


def in_days(days):
    return (datetime.now(UTC).date() + timedelta(days=days)).isoformat()
