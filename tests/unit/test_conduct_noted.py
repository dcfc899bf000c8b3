"""Fixtures and hooks that note a failure against a test which goes on: which are marked, and which are none."""

import pytest

from tests.unit.test_conduct import sights

SUBTESTS = [
    "@pytest.fixture(autouse=True)\ndef told(subtests):\n"
    "    with subtests.test('x'):\n        assert parse('a') == 1",
    "@pytest.fixture(autouse=True)\ndef told(subtests):\n    check(subtests)",
    "@fixture\ndef told(subtests):\n    def inner():\n"
    "        with subtests.test('x'):\n            assert parse('a')\n    inner()",
    "@pytest.fixture\ndef told(request):\n"
    "    with request.getfixturevalue('subtests').test():\n        assert parse('a')",
    "class TestX:\n    @pytest.fixture(autouse=True)\n"
    "    def told(self, subtests):\n        mine = subtests\n        mine.test()",
]
PLAIN_SUBTESTS = [
    "def test_a(subtests):\n    for text in TEXTS:\n"
    "        with subtests.test(text):\n            assert parse(text) == 1",
    "@pytest.fixture\ndef parts(subtests):\n    return subtests",
    "@pytest.fixture\ndef parts(subtests):\n    yield subtests",
    "@pytest.fixture\ndef client(request):\n    return request.getfixturevalue('server')",
    "subtests = [1, 2]\ndef test_a():\n    assert parse(subtests) == 1",
]
SOFT = [
    "beforeEach(() => { expect.soft(parse('a')).toBe(1); });",
    "import { beforeEach as first } from 'vitest';\nfirst(() => { expect.soft(parse('a')).toBe(1); });",
    "const { soft } = expect;\nbeforeEach(() => { soft(parse('a')).toBe(1); });",
    "function check() { expect.soft(parse('a')).toBe(1); }\nbeforeAll(async () => { check(); });",
    "const one = () => expect.soft(parse('a')).toBe(1);\n"
    "const all = () => { one(); };\ndescribe('x', () => { beforeEach(all); });",
    "const it = test.extend({ told: async ({}, use) => { expect['soft'](parse('a')).toBe(1); await use(1); } });",
    "const { soft: one } = expect;\nbeforeEach(() => { one(parse('a')).toBe(1); expect.soft(1); });",
    "beforeEach(({ task }) => { task.result.state = parse('a') ? 'pass' : 'fail'; });",
    "beforeEach((ctx) => { ctx.task.result.errors.push(new Error(parse('a'))); });",
]
PLAIN_SOFT = [
    "test('a', () => { expect.soft(parse('a')).toBe(1); expect.soft(parse('b')).toBe(2); });",
    "function check(x) { expect.soft(parse(x)).toBe(1); }\n"
    "beforeEach(() => { reset(); });\ntest('a', () => check('a'));",
    "beforeEach(() => { expect(parse('a')).toBe(1); });",
    "const schema = z.object({}).extend({ soft: z.enum(['soft', 'hard']), other: parse('a') });",
    "beforeEach(() => { mode = 'soft'; });",
    "afterEach(({ task }) => { if (task.result.state === 'fail') console.log(task.name); });",
    "test('a', () => { payload.result.errors.push('x'); });",
]


@pytest.mark.parametrize("text", SUBTESTS)
def test_fixture_that_fails_in_a_tests_stead_is_marked(text: str) -> None:
    found = sights("python", f"import pytest\n{text}\n")
    assert any("fail in a test's stead" in words for words in found)


@pytest.mark.parametrize("text", PLAIN_SUBTESTS)
def test_subtests_of_tests_are_not_marked(text: str) -> None:
    assert not sights("python", f"import pytest\n{text}\n")


@pytest.mark.parametrize("text", SOFT)
def test_hook_that_fails_in_a_tests_stead_is_marked(text: str) -> None:
    assert any("fail in a test's stead" in words for words in sights("typescript", text))


@pytest.mark.parametrize("text", PLAIN_SOFT)
def test_soft_checks_of_tests_are_not_marked(text: str) -> None:
    assert not sights("typescript", text)
