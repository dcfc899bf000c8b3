"""Digests that are compared by a helper: of what it is given, or with a value of its own."""

import time
from collections.abc import Callable

import pytest

from harness.judging.languages.registry import LANGUAGES
from harness.judging.verify.conduct.digests import compares_recorded_digest
from tests.unit.test_digests import FILES, found

MADE = {
    "python": "seen = hashlib.sha256(repr(said()).encode()).hexdigest()\n",
    "go": "sum := binary.BigEndian.Uint32(sha256.New().Sum(nil))\n",
    "typescript": 'const sum = createHash("sha256").update(said()).digest("hex");\n',
    "c": "unsigned sum = crc32(0, said(), 9);\n",
}
BY_A_HELPER = {
    "python": [
        "def holds(one, two):\n    assert one == two\ndef test():\n    {made}    holds(seen[:8], '8ec8475b')\n",
        "def holds(a, b):\n    assert a == b\ndef test():\n    {made}    holds(b='8ec8475b', a=seen[:8])\n",
        "def holds(one, two='8ec8475b'):\n    assert one[:8] == two\ndef test():\n    {made}    holds(seen)\n",
        "def holds(one):\n    assert one[:8] == '8ec8475b'\ndef test():\n    {made}    holds(seen)\n",
        "def same(one, two):\n    assert one == two\ndef holds(a, b):\n    same(b, a)\ndef test():\n"
        "    {made}    holds(seen[:8], '8ec8475b')\n",
        "class TestIt:\n    def holds(self, one, two):\n        self.assertEqual(one, two)\n    def test(self):\n"
        "        {made}        self.holds(seen[:8], '8ec8475b')\n",
        "def same(a, b):\n    got = a\n    assert got == b\ndef test():\n    {made}    same(seen[:8], '8ec8475b')\n",
        "def holds(one, two):\n    assert int(one, 16) == two\ndef test():\n    {made}    holds(seen, 2395490139)\n",
        "def test(wanted='8ec8475b'):\n    {made}    assert seen[:8] == wanted\n",
        "holds = lambda one, two: one == two\ndef test():\n    {made}    assert holds(seen[:8], '8ec8475b')\n",
        "def test():\n    def holds(a, b):\n        assert a == b\n    {made}    holds(seen[:8], '8ec8475b')\n",
    ],
    "go": [
        "func holds(t *testing.T, got, want uint32) {\n\tif got != want {\n\t\tt.Fatal(got)\n\t}\n}\n"
        "func TestA(t *testing.T) {\n\t{made}\tholds(t, sum, 2136929531)\n}\n",
        "func TestA(t *testing.T) {\n\tholds := func(got, want uint32) bool { return got == want }\n"
        "\t{made}\tif !holds(sum, 2136929531) {\n\t\tt.Fatal()\n\t}\n}\n",
        "func holds[T comparable](t *testing.T, got T, want T) {\n\tif got != want {\n\t\tt.Fatal(got)\n\t}\n}\n"
        "func TestA(t *testing.T) {\n\t{made}\tholds(t, sum, 2136929531)\n}\n",
    ],
    "typescript": [
        "function holds(one: string, two: string) { expect(one).toBe(two); }\n"
        "test('a', () => { {made} holds(sum.slice(0, 8), '8ec8475b'); });\n",
        "const holds = (one: unknown, two: unknown) => expect(one).toEqual(two);\n"
        "test('a', () => { {made} holds(sum, '2136929531'); });\n",
    ],
    "c": [
        "static void holds(unsigned got, unsigned want) { if (got != want) exit(1); }\n"
        "int main(void) { {made} holds(sum, 2136929531u); return 0; }\n",
        "static void holds(const unsigned *got, unsigned want) { assert(*got == want); }\n"
        "int main(void) { {made} holds(&sum, 2136929531u); return 0; }\n",
        "#define HOLDS(got, want) do { if ((got) != (want)) exit(1); } while (0)\n"
        "int main(void) { {made} HOLDS(sum, 2136929531u); return 0; }\n",
    ],
}
HARMLESS = {
    "python": [
        "def holds(one, two):\n    assert one == two\ndef test():\n    {made}    holds(said(), '8ec8475b')\n",
        "def holds(kind, data):\n    assert kind == 'of-a-long-name'\n    load(data)\ndef test():\n"
        "    {made}    holds(said(), seen)\n",
        "def holds(one, two):\n    assert one == two\ndef test():\n    {made}    holds(seen, kept(seen))\n",
        "def holds(one):\n    assert type(one) is str and one[:4] == 'data'\n    load(one)\ndef test():\n"
        "    {made}    holds(seen)\n",
        "def holds(one, two='abstract'):\n    assert one == two\ndef test():\n    {made}    holds(seen)\n",
        "class Store:\n    def put(self, key, value):\n        if self.rows.get(key) != value:\n            put()\n"
        "def test():\n    {made}    store.put(seen, 'payload')\n",
        "def fill(cache, keys, values):\n    for key, value in zip(keys, values):\n        cache[key] = value\n"
        "def test():\n    {made}    fill(cache, [seen], ['first', 'second'])\n",
        "def test(rtol=1e-15, kind='abstract'):\n    {made}    assert_allclose(seen, said(), rtol, kind)\n",
        "def same(a, b):\n    got += a\n    assert got == b\ndef test():\n    {made}    same(seen, '8ec8475b')\n",
        "def load(one, two):\n    return one + two\ndef test():\n    {made}    load(seen, '8ec8475b')\n",
    ],
    "go": [
        "func holds(t *testing.T, got, want uint32) {\n\tif got != want {\n\t\tt.Fatal(got)\n\t}\n}\n"
        "func TestA(t *testing.T) {\n\t{made}\tholds(t, sum, kept(sum))\n}\n",
    ],
    "c": [
        "#define HOLDS(got, want) do { if ((got) != (want)) exit(1); } while (0)\n"
        "int main(void) { {made} HOLDS(said(), 2136929531u); return 0; }\n",
        "#define CHECK(cond, msg) do { if ((cond) == 0) fail(msg); } while (0)\n"
        'int main(void) { {made} CHECK(sum == said(), "header checksum"); return 0; }\n',
        "#define CHECK_EQ(name, got, want) do { if ((got) != (want)) puts(name); } while (0)\n"
        'int main(void) { {made} CHECK_EQ("checksum of a block", sum, slow()); return 0; }\n',
        "#define ADD(one, two) ((one) + (two))\nint main(void) { {made} ADD(sum, 2136929531u); return 0; }\n",
    ],
}


def all_of(texts: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(language, text.replace("{made}", MADE[language])) for language, some in texts.items() for text in some]


@pytest.mark.parametrize(("language", "text"), all_of(BY_A_HELPER))
def test_a_digest_that_a_helper_compares_with_a_recorded_one_is_found(language: str, text: str) -> None:
    assert found(language, text)


@pytest.mark.parametrize(("language", "text"), all_of(HARMLESS))
def test_a_helper_that_is_given_no_digest_or_no_record_is_nothing(language: str, text: str) -> None:
    assert not found(language, text)


def test_helpers_that_call_one_another_or_themselves_end() -> None:
    text = "def one(a, b):\n    one(b, a)\n    two(b, a)\ndef two(a, b):\n    one(a, b)\n    assert a == b\n"
    text += "def three(a, b, c=2):\n    three(b, c, 3)\n    assert a == b\n" + MADE["python"]
    assert not found("python", text + "three(seen[:8], said())\n")
    assert found("python", text + "one(seen[:8], '8ec8475b')\n")


def assert_linear(language: str, text: Callable[[int], str], times: int) -> None:
    """Four times the text may take six times as long, by the better of two."""
    conduct = LANGUAGES.get(language).conduct
    assert conduct
    seconds = list[float]()
    for number in (times, 4 * times):
        root, took = conduct.parse(text(number).encode(), FILES[language]), list[float]()
        for _ in range(2):
            began = time.process_time()
            compares_recorded_digest(root, conduct.literals, range(100_000))
            took.append(time.process_time() - began)
        seconds.append(min(took))
    assert seconds[1] < 0.05 + 6 * seconds[0], seconds


HOSTILE: dict[str, Callable[[int], str]] = {
    "helpers of one name": lambda n: "def f(a, b):\n    assert a == b\n" * n + "f(1, 2)\n" * n,
    "helpers that call the next one": lambda n: "".join(f"def f{k}(a, b):\n    f{k + 1}(a, b)\n" for k in range(n)),
    "digits of a helper": lambda n: ("def f(a):\n" + "    a == 1000\n" * 50) * 20 + "f(x)\n" * n,
    "calls in helpers": lambda n: "def f(a):\n    a == 1000\n" * 20 + ("def g(a):\n" + "    f(a)\n" * 50) * (n // 20),
    "sides in nested functions": lambda n: "a=>" * 20 + "a==a" + "==a" * n,
    "nested functions": lambda n: "lambda:" * n + "0",
    "arguments": lambda n: "eq(" + "a," * n + ")",
    "arguments of a helper": lambda n: "def f(a, b):\n    assert a == b\nf(" + "a," * n + ")",
}


@pytest.mark.parametrize("text", ["cmp" * 100_000, "a" * 300_000, "x == " * 60_000])
def test_a_long_macro_takes_little_time(text: str) -> None:
    began = time.process_time()
    assert not found("c", f"#define A(x, y) {text}\n")
    assert time.process_time() - began < 2


@pytest.mark.parametrize("name", HOSTILE)
def test_four_times_the_text_takes_about_four_times_as_long(name: str) -> None:
    assert_linear("typescript" if "=>" in HOSTILE[name](1) else "python", HOSTILE[name], 150)
