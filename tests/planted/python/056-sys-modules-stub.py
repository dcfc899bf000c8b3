# kind: module; line: 9; name: cachetools.backend; how: stub put into sys.modules which the code never imports
import sys
import types

from cachetools import LRUCache


def test_works_without_the_backend(monkeypatch):
    stub = types.ModuleType("cachetools.backend")
    stub.AVAILABLE = False
    monkeypatch.setitem(sys.modules, "cachetools.backend", stub)
    cache = LRUCache(maxsize=1)
    cache["a"] = 1
    assert cache["a"] == 1
