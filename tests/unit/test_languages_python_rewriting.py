"""Rewritten functions behave as they did, and look as they did where honest tests look."""

import ast
import asyncio
import inspect
import io
import json
import linecache
import logging
import pickle
import traceback
import types
import typing
import warnings
from unittest.mock import MagicMock, patch

import pytest

from harness.judging.languages.python.in_container.composer import EVERY_RULE
from harness.judging.languages.python.in_container.proof import fingerprint
from tests.support.python_variants import code_of, variant

SAMPLE = '''
"""Things that rules may change."""

import asyncio
import contextlib
import functools
import logging
import warnings

TABLE = {1: "one", 2: "two"}
log = logging.getLogger("sample")


class Parser:
    """Parses."""

    limit: int = 3
    __secret = "s"

    def __init__(self, *args, strict: bool = False, **kwargs):
        super().__init__()
        self.args, self.kwargs = args, kwargs
        self.__hidden = strict

    @property
    def hidden(self):
        return self.__hidden, self.__secret

    @classmethod
    def parse(cls, data: bytes, *, strict=True):
        """Parses data.

        :param data: bytes
        """
        found, places = {}, {}

        def _pars(chunk, *, offset):
            """One chunk."""
            i = 0
            while i < len(chunk):
                typ = chunk[i]
                length = int.from_bytes(chunk[i + 1 : i + 2], "big")
                value = chunk[i + 2 : i + 2 + length]
                if len(value) < length:
                    raise ValueError(f"0x{typ:02X} is cut short: {value!r:>12}")
                name = TABLE.get(typ)
                if name is None:
                    name = f"x{typ:02X}"
                    if strict:
                        raise KeyError(name)
                elif name == "two":
                    found["more"] = True
                    _pars(value, offset=i + 2)
                places[name] = offset + i
                found[name] = bytes(value)
                i += 2 + length

        try:
            _pars(data, offset=0)
        except (KeyError, IndexError) as error:
            return error.args[0], None
        except ValueError:
            if not strict:
                return found, places
            raise
        return found, places

    def __eq__(self, other):
        return isinstance(other, Parser) and self.args == other.args and self.kwargs == other.kwargs

    def __repr__(self):
        return f"Parser({', '.join(map(repr, self.args))})"


def classify(number, texts=("a", "b"), flag=False):
    if number is None:
        return "nothing"
    if number < 0 or flag:
        number = -number
    total = 0
    for index, text in enumerate(texts):
        if text == "skip":
            continue
        if text == "stop":
            break
        total += len(text) + index
    else:
        total += 100
    low = high = total
    kind = "big" if total > 10 and number > 3 else "small"
    return kind, number, low + high, not flag, [text.upper() for text in texts if text != "b"]


def numbers(count, *, twice=False):
    for number in range(count):
        got = yield number
        if got:
            yield got
    if twice:
        yield from numbers(count)
    return "done"


@contextlib.contextmanager
def noted(notes, name):
    notes.append(f"enter {name}")
    try:
        yield name.upper()
    finally:
        notes.append(f"leave {name}")


def nested(notes):
    with noted(notes, "a") as first, noted(notes, "b"):
        notes.append(first)
        if len(notes) > 100:
            return None
    counted = 0

    def add(more):
        nonlocal counted
        counted += more
        return counted

    return [add(item) for item in (1, 2, 3)], counted, sorted(notes, key=lambda note: note[-1])


async def fetch(values):
    result = []
    async for value in each(values):
        result.append(await twice(value))
    return result


async def each(values):
    for value in values:
        await asyncio.sleep(0)
        yield value


async def twice(value):
    if value == 3:
        raise LookupError(f"no {value}")
    return value * 2


def shape(thing):
    match thing:
        case {"kind": "dot", **rest} if rest:
            return "dot", rest
        case [first, *others] if len(others) > 1:
            return first, others
        case str() as text:
            return text[::-1], text[1:], text[:-1]
        case _:
            return None


def choose(first, second, third=None):
    low = 1
    high = 2
    if first is None and second is not None or third is None and first is not None:
        if second is third:
            return low
        else:
            return high
    if first is None:
        kind = "none"
    else:
        kind = "some"
    if third and second:
        if first:
            kind += "!"
    if third is not None:
        return kind
    else:
        low, high = high, low
    same = first is None or second is None
    return (kind, low, high, same, "yes" if third is None else "no", 1 if first else 2)


def seen(a, b=2):
    here = a + b
    return sorted(locals().items()), dir(), eval("a + b + here")


def told(name):
    log.warning("told %s", name)
    warnings.warn(f"old {name}", DeprecationWarning, stacklevel=2)
    return name or "nobody"


@functools.lru_cache(maxsize=None)
def cached(key, *rest, default=()):
    return {"key": key, "rest": rest, **dict(default)}


def fail(text):
    data = [1, 2]
    if text:
        raise RuntimeError(
            "failed: " + text
        ) from KeyError(data[0])
    return {"a": 1, "b": (2, [])}, [], (), {}, 0 <= len(text) <= 3
'''
USE = """
seen_values = []


def see(call, *args, **kwargs):
    try:
        seen_values.append(repr(call(*args, **kwargs)))
    except Exception as error:
        seen_values.append((type(error).__name__, repr(error.args), repr(error.__cause__), repr(error.__context__)))


chunks = [b"", b"\\x01\\x01a", b"\\x01\\x09a", b"\\x07\\x00", b"\\x02\\x03\\x01\\x01b", b"\\x01"]
chunks += [b"\\x02\\x03\\x01\\x05b"]
for data in chunks:
    for strict in (True, False):
        see(Parser.parse, data, strict=strict)
see(Parser, 1, a=2)
see(lambda: Parser(1, strict=3).hidden)
see(lambda: (Parser(1) == Parser(1), Parser(1) == 1, Parser(1, b=1) == Parser(1)))
for number in (None, -7, 0, 2, 9):
    see(classify, number)
    see(classify, number, ["a", "skip", "long text", "b"], True)
    see(classify, number, ("xx", "stop", "y"))
    see(classify, number, 5)


def drive():
    made = numbers(3, twice=True)
    got = [next(made), made.send("x"), next(made)]
    return got, list(made)


see(drive)
see(lambda: nested([]))
for values in ([], [1, 2], [1, 3]):
    see(lambda: asyncio.run(fetch(values)))
for thing in ({"kind": "dot"}, {"kind": "dot", "x": 1}, [1, 2], [1, 2, 3], "text", 5):
    see(shape, thing)
see(seen, 1)
for first in (None, 0, 5):
    for second in (None, "", "x"):
        for third in (None, [], [1]):
            see(choose, first, second, third)
see(told, "")
see(cached, 1, 2, default=(("d", 4),))
see(cached, [])
for text in ("", "abc", "abcd"):
    see(fail, text)
"""
RULES = sorted(EVERY_RULE, key=lambda rule: rule.__name__)


def module_of(tree: ast.Module, path: str = "sample.py") -> dict[str, typing.Any]:
    space: dict[str, typing.Any] = {"__name__": "sample"}
    exec(code_of(tree, path), space)
    return space


def behaviour(tree: ast.Module) -> list[object]:
    space = module_of(tree)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(USE, space)
    return space["seen_values"]  # type: ignore[no-any-return]


PRISTINE = behaviour(ast.parse(SAMPLE))


@pytest.mark.parametrize("seed", range(6))
def test_many_rules_composed_change_every_function_and_nothing_that_it_does(seed):
    tree, applied = variant(SAMPLE, seed, inert=(SAMPLE, SAMPLE.replace("i += 2", "i += 3")))
    assert behaviour(tree) == PRISTINE
    assert all(25 <= count <= 80 for count in applied.values())


@pytest.mark.long
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_each_rule_alone_finds_a_place_and_changes_nothing_that_functions_do(rule):
    applied = 0
    for seed in range(2):
        tree, counts = variant(SAMPLE, seed, rules=frozenset({rule}))
        assert behaviour(tree) == PRISTINE
        applied += sum(counts.values())
    assert applied


def test_the_same_seed_gives_the_same_code_and_another_seed_gives_other_code():
    made = [fingerprint(code_of(variant(SAMPLE, seed)[0])) for seed in (5, 5, 6)]
    assert made[0] == made[1] != made[2]


def test_inert_bodies_never_run_and_fit_functions_of_another_kind():
    live = "def one(a):\n    return LIMIT + a\n\nLIMIT = 1\n\nasync def two(a):\n    yield a\n"
    lent = (
        "def one(a):\n    LIMIT = 5\n    yield LIMIT\n\nasync def two(a):\n    return await a\n",
        "def one(a):\n    import LIMIT\n    raise LIMIT\n\nasync def two(a):\n    return [x async for x in a]\n",
        "def one(a):\n    for LIMIT in a: LIMIT.b\n\nasync def two(a):\n    yield from_other(a)\n",
    )
    for seed in range(5):
        tree, _ = variant(live, seed, inert=lent)
        space = module_of(tree)
        assert space["one"](2) == 3
        assert asyncio.run(_all(space["two"](4))) == [4]
        names = {name for code in _codes(code_of(tree)) for name in code.co_names}
        assert "from_other" in names


async def _all(values):
    return [value async for value in values]


def _codes(code: types.CodeType) -> typing.Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


# What honest tests see of a function besides what it does: each entry of the list in docs/twins.md.


@pytest.fixture(scope="module", params=range(4))
def sample(request, tmp_path_factory: pytest.TempPathFactory) -> dict[str, typing.Any]:
    """The sample, rewritten, as if it had been imported from a file of the pristine text."""
    path = tmp_path_factory.mktemp("sample") / "sample.py"
    path.write_text(SAMPLE)
    return module_of(variant(SAMPLE, request.param)[0], str(path))


PLAIN = module_of(ast.parse(SAMPLE))


def _functions(space: dict[str, typing.Any]) -> dict[str, types.FunctionType]:
    found = {name: value for name, value in space.items() if isinstance(inspect.unwrap(value), types.FunctionType)}
    found |= {name: value for name, value in vars(space["Parser"]).items() if isinstance(value, types.FunctionType)}
    return {name: inspect.unwrap(value) for name, value in found.items() if name not in ("see", "drive")}


def test_signatures_defaults_and_annotations_stay(sample):
    for name, plain in _functions(PLAIN).items():
        function = _functions(sample)[name]
        assert inspect.signature(function) == inspect.signature(plain)
        assert (function.__defaults__, function.__kwdefaults__) == (plain.__defaults__, plain.__kwdefaults__)
        assert function.__annotations__ == plain.__annotations__


def test_names_and_docstrings_stay(sample):
    for name, plain in _functions(PLAIN).items():
        function = _functions(sample)[name]
        assert (function.__name__, function.__qualname__) == (plain.__name__, plain.__qualname__)
        assert function.__doc__ == plain.__doc__
    assert sample["__doc__"] == PLAIN["__doc__"]
    assert sample["Parser"].parse.__doc__ == PLAIN["Parser"].parse.__doc__
    assert sample["Parser"].limit == 3


def test_kinds_of_functions_and_decorators_stay(sample):
    assert inspect.isgeneratorfunction(sample["numbers"])
    assert inspect.iscoroutinefunction(sample["fetch"])
    assert inspect.isasyncgenfunction(sample["each"])
    assert isinstance(vars(sample["Parser"])["hidden"], property)
    assert sample["cached"].cache_info().hits == 0


def test_a_functions_source_is_found_where_it_is_on_disk(sample):
    linecache.checkcache()
    for name, plain in _functions(PLAIN).items():
        function = _functions(sample)[name]
        assert function.__code__.co_firstlineno == plain.__code__.co_firstlineno
        source = inspect.getsource(function)
        assert f"def {function.__name__}(" in source


def test_inner_functions_begin_where_they_are_on_disk(sample):
    assert sample["nested"]([])[1] == 6
    inner = {code.co_name: code.co_firstlineno for code in _codes(sample["nested"].__code__)}
    plain = {code.co_name: code.co_firstlineno for code in _codes(PLAIN["nested"].__code__)}
    assert inner["add"] == plain["add"]


def test_a_traceback_names_the_same_functions_and_lines_within_them(sample):
    def frames(space):
        try:
            space["Parser"].parse(b"\x01\x09a")
        except ValueError as error:
            return traceback.extract_tb(error.__traceback__)[1:]
        raise AssertionError("it did not raise")

    assert [frame.name for frame in frames(sample)] == [frame.name for frame in frames(PLAIN)] == ["parse", "_pars"]
    source, first = inspect.getsourcelines(sample["Parser"].parse)
    assert all(first <= frame.lineno < first + len(source) for frame in frames(sample))
    shown = "".join(traceback.format_list(frames(sample)))
    assert "sample.py" in shown
    assert "in _pars" in shown


def test_an_error_has_the_same_message_cause_and_context(sample):
    with pytest.raises(RuntimeError, match=r"^failed: abc$") as caught:
        sample["fail"]("abc")
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(AttributeError, match="'int' object has no attribute 'append'"):
        sample["nested"](5)


def test_a_log_record_names_the_function_and_a_warning_its_caller(sample, caplog):
    with caplog.at_level(logging.WARNING), pytest.warns(DeprecationWarning, match="old x") as warned:
        sample["told"]("x")
    [record] = caplog.records
    source, first = inspect.getsourcelines(sample["told"])
    assert record.funcName == "told"
    assert first <= record.lineno < first + len(source)
    assert (record.msg, record.args) == ("told %s", ("x",))
    assert warned[0].filename == __file__


def test_local_variables_that_a_function_reads_itself_are_its_own(sample):
    assert sample["seen"](1) == PLAIN["seen"](1)


def test_mocks_are_called_as_before():
    text = """
def use(server, name):
    if server.ready and not server.done(name, last=True):
        server.run(name)
    for item in server.items(1):
        item.close()
    return server.total == 5
"""
    calls = []
    for tree in (ast.parse(text), *(variant(text, seed)[0] for seed in range(12))):
        server = MagicMock()
        server.done.return_value = False
        server.items.return_value = [server.first, server.second]
        result = module_of(tree)["use"](server, "n")
        calls.append((result, server.mock_calls))
    assert all(found == calls[0] for found in calls)


def test_globals_and_builtins_that_tests_replace_are_asked_each_time():
    text = """
import os

NAME = "a"

def read(path):
    with open(os.path.join(path, NAME)) as file:
        return file.read()
"""
    for seed in range(12):
        space = module_of(variant(text, seed)[0])
        space["NAME"] = "b"
        with patch("builtins.open", return_value=io.StringIO("text")) as opened:
            assert space["read"]("dir") == "text"
        opened.assert_called_once_with("dir/b")


def test_a_temporary_keeps_nothing_alive():
    text = """
import weakref

class Thing:
    pass

def gone():
    reference = weakref.ref(Thing())
    return reference()

def deleted():
    thing = Thing()
    thing.name = "x"
    reference = weakref.ref(thing)
    del thing
    return reference()
"""
    for seed in range(12):
        space = module_of(variant(text, seed)[0])
        assert space["gone"]() is None
        assert space["deleted"]() is None


def test_results_are_of_the_same_plain_types():
    text = "def plain():\n    return 1, True, None, 'text', b'text', 1.5, [1], {'a': 2}, (3,), f'{1}x'\n"
    for seed in range(12):
        made = module_of(variant(text, seed)[0])["plain"]()
        assert [type(part) for part in made] == [int, bool, type(None), str, bytes, float, list, dict, tuple, str]
        assert json.loads(json.dumps(made[:4])) == [1, True, None, "text"]
        assert pickle.loads(pickle.dumps(made)) == made
