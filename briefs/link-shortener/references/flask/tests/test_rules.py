import pytest

from shortener.rules import Refused, checked_code, checked_limit, checked_url, host_of, number


@pytest.mark.parametrize("url", ["http://a.example", "https://a.example/" + "x" * 1982])
def test_addresses(url):
    assert checked_url(url) == url


@pytest.mark.parametrize(
    "url", [None, 1, "", "a.example", "ftp://a.example", "http://", "http://[", "http://a b", "https://a.example/" + "x" * 1983, "http://:80/", "http://a.example/\x1f"]
)
def test_what_is_no_address(url):
    with pytest.raises(Refused) as refused:
        checked_url(url)
    assert refused.value.status == 400
    assert str(refused.value).startswith("url: ")


@pytest.mark.parametrize("code", ["abc", "A" * 32, "a-_9"])
def test_codes(code):
    assert checked_code(code) == code


@pytest.mark.parametrize("code", [None, 123, "ab", "A" * 33, "a.b", "a b"])
def test_what_is_no_code(code):
    with pytest.raises(Refused, match="^code: "):
        checked_code(code)


def test_limits():
    assert checked_limit(1) == 1
    for limit in (0, -1, True, 1.5, "2"):
        with pytest.raises(Refused, match="^max_visits: "):
            checked_limit(limit)


def test_numbers():
    assert number("1", "page") == 1
    assert number("999999999", "page") == 999999999
    assert number("100", "limit", 100) == 100
    for text in ("0", "-1", "1.5", "x", "", "1234567890"):
        with pytest.raises(Refused, match="^page: a whole number from 1$"):
            number(text, "page")
    with pytest.raises(Refused, match="^limit: a whole number from 1 to 100$"):
        number("101", "limit", 100)


@pytest.mark.parametrize(
    ("referrer", "host"),
    [("https://A.example:8080/x", "a.example"), (None, ""), ("", ""), ("nonsense", ""), ("http://[", "")],
)
def test_hosts(referrer, host):
    assert host_of(referrer) == host
