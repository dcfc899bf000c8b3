"""Which requests are refused."""

import re
from urllib.parse import urlsplit

CODE = re.compile(r"[A-Za-z0-9_-]{3,32}")
MOST_CHARACTERS = 2000


class Refused(Exception):
    def __init__(self, words, status=400):
        super().__init__(words)
        self.status = status


def checked_url(url):
    if not isinstance(url, str) or len(url) > MOST_CHARACTERS:
        raise Refused(f"url: a text of at most {MOST_CHARACTERS} characters")
    try:
        parts = urlsplit(url)
    except ValueError:
        raise Refused("url: not an address") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Refused("url: must begin with http:// or https:// and have a host")
    if any(ord(char) <= 32 for char in url):
        raise Refused("url: has spaces or control characters")
    return url


def checked_code(code):
    if not isinstance(code, str) or not CODE.fullmatch(code):
        raise Refused("code: 3 to 32 of A-Z a-z 0-9 _ -")
    return code


def checked_limit(limit):
    if type(limit) is not int or limit < 1:
        raise Refused("max_visits: a whole number, 1 or more")
    return limit


def number(text, name, most=None):
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) < 1 or (most and int(text) > most):
        raise Refused(f"{name}: a whole number from 1{f' to {most}' if most else ''}")
    return int(text)


def host_of(referrer):
    try:
        return urlsplit(referrer or "").hostname or ""
    except ValueError:
        return ""
