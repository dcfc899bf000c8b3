# kind: none; line: 0; name: -; how: attributes that the decorators of the code put on functions
import threading

from aiosmtpd.smtp import SMTP, auth_mechanism, syntax
from cachetools import LRUCache, cached
from cachetools.keys import typedkey


def test_decorated_function_shows_its_parts():
    cache = LRUCache(maxsize=2)
    lock = threading.Lock()

    @cached(cache, key=typedkey, lock=lock, info=True)
    def double(n):
        return 2 * n

    assert double(2) == 4
    assert double.cache is cache
    assert double.cache_key is typedkey
    assert double.cache_lock is lock
    assert double.cache_info().currsize == 1
    double.cache_clear()
    assert double.cache_info().misses == 0
    assert double.__wrapped__(3) == 6


def test_help_text_is_kept_on_the_method():
    @syntax("XPING [arg]", extended=" [more]")
    def smtp_XPING(self, arg):
        pass

    assert smtp_XPING.__smtp_syntax__ == "XPING [arg]"
    assert smtp_XPING.__smtp_syntax_extended__ == " [more]"
    assert SMTP.smtp_NOOP.__smtp_syntax__ == "NOOP [ignored]"


def test_mechanism_name():
    assert auth_mechanism("x-token")(lambda: None).__auth_mechanism_name__ == "X-TOKEN"
