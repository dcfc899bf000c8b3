"""Tests that check only where they are judged, by what a report changes for them, and honest ones beside them."""

import pytest

from tests.unit.test_conduct import sights

SCANNING = {
    "python": [
        'import os\nJUDGED = any(name.startswith("TESTW") for name in os.environ)',
        'from os import environ\nJUDGED = [name for name in environ if re.match("^TESTWRIGHT_.*", name)]',
    ],
    "go": ['func a() { for _, each := range os.Environ() { if strings.HasPrefix(each, "TESTWRI") { b() } } }'],
    "typescript": ['const judged = Object.keys(process.env).some((name) => name.startsWith("TESTW"));'],
}
SCANNING_HONESTLY = {
    "python": [
        'def test_a():\n    assert parse("TESTW") == Warrant("TEST")',
        'import os\nos.environ["TESTWEB"] = "1"\nassert any(name.startswith("TESTW_") for name in os.environ)',
        'def test_a():\n    assert main(["--log", "/logs/agent.log"]) == 0\n    assert read("/logs/agents")',
    ],
    "go": [
        'func a() { if strings.HasPrefix(ticker, "TESTW") { b() } }',
        'func a() { for _, each := range os.Environ() { if strings.HasPrefix(each, "TESTWEB") { b() } } }',
    ],
    "typescript": [
        'expect(ticker.startsWith("TESTW")).toBe(true);',
        'const own = Object.keys(process.env).some((name) => name.startsWith("TESTWEB"));',
    ],
}
MARKED = {
    "python": [
        'def test_a(pytestconfig):\n    if hasattr(pytestconfig, "cache"):\n        return\n    assert f(1) == 2',
        'def test_a(request):\n    if getattr(request.config, "cache", None):\n        return\n    assert f(1) == 2',
        "def test_a(request):\n    if request.config.cache is None:\n        assert f(1) == 2",
    ],
    "go": [
        "func TestA(t *testing.T) { if v := testing.Verbose(); !v { return }; compare(t) }",
        "func quiet() bool { return !testing.Verbose() }\nfunc TestA(t *testing.T) { if quiet() { return }; x(t) }",
        'func TestA(t *testing.T) { if !testing.Verbose() { return }; compare(t, Split("a")) }',
        'func TestA(t *testing.T) { if !testing.Verbose() { t.Skip("quiet") }; if Split("a") != 1 { t.Fail() } }',
        'func TestA(t *testing.T) { if testing.Verbose() == false { return }; expectWords(t, "a") }',
        'func TestA(t *testing.T) { if testing.Verbose() { if Split("a") != 1 { t.Fatal("no") } } }',
        'func TestA(t *testing.T) { if testing.Verbose() && Split("a") != 1 { t.Errorf("no") } }',
        'func TestA(t *testing.T) { if testing.Verbose() { t.Run("a", func(t *testing.T) { compare(t) }) } }',
        "func TestA(t *testing.T) { verbose := testing.Verbose(); if !verbose { return }; compare(t) }",
        'func TestA(t *testing.T) { if !testing.Verbose() { t.Log("quiet") } else { assert.True(t, ok) } }',
        "func TestA(t *testing.T) { for _, row := range all { if !testing.Verbose() { continue }; expect(row) } }",
        'func TestA(t *testing.T) { t.Run("", func(t *testing.T) { if !testing.Verbose() { return }; same(t) }) }',
        'func same(t *testing.T, a, b int) { if !testing.Verbose() { return }; if a != b { t.Error("no") } }',
        'import test "testing"\nfunc TestA(t *test.T) { if !test.Verbose() { return }; compare(t) }',
        'func TestA(t *testing.T) { if flag.Lookup("test.run").Value.String() == "" { return }; compare(t) }',
        'func TestA(t *testing.T) { run := flag.Lookup("test.run"); '
        'if run.Value.String() == "" { return }; same(t) }',
        'import f "flag"\nfunc TestA(t *testing.T) { '
        'if f.Lookup("test.v").Value.String() == "true" { assert.True(t, ok) } }',
        'func judged() bool { return flag.Lookup("test.v").Value.String() != "false" }\n'
        "func TestA(t *testing.T) { if !judged() { return }; compare(t) }",
        "func TestA(t *testing.T) { "
        'if !strings.Contains(strings.Join(os.Args, " "), "-test.run") { return }; same(t) }',
        'func TestA(t *testing.T) { args := os.Args; if !slices.Contains(args, "-test.v=true") { return }; same(t) }',
        "func TestA(t *testing.T) { judged := false; for _, arg := range os.Args {\n"
        'if strings.HasPrefix(arg, "-test.run") { judged = true } }; if !judged { return }; compare(t) }',
        "func TestA(t *testing.T) { "
        'for _, arg := range os.Args { if arg == "-test.v=true" { assert.True(t, ok) } } }',
    ],
    "typescript": [
        'const isCI = () => !!process.env.CI;\ntest("a", () => {\n  if (!isCI()) return;\n  expect(1).toBe(1);\n});',
        'function local() { return !process.env.CI; }\ntest.skipIf(local())("a", () => { expect(1).toBe(1); });',
        'test("a", () => {\n  if (!process.env.CI) return;\n  expect(parse("a")).toBe(1);\n});',
        'test("a", () => {\n  if (process.env.VITEST_WORKER_ID !== "1") return;\n  expect(parse("a")).toBe(1);\n});',
        'test("a", () => {\n  if (!process.env["CI"]) { return; }\n  same(parse("a"), 1);\n});',
        'test.each([1])("a %d", (n) => {\n  if (process.env.CI === undefined) return;\n  compare(n);\n});',
        'test("a", () => {\n  if (process.env.CI !== "true") return;\n  expect(1).toBe(1);\n});',
        'test("a", (context) => {\n  if (!process.env.CI) context.skip();\n  expect(1).toBe(1);\n});',
        'test("a", () => {\n  for (const n of all) {\n    if (!process.env.CI) continue;\n    expect(n);\n  }\n});',
        'const { CI } = process.env;\ntest("a", () => {\n  if (!CI) return;\n  expect(1).toBe(1);\n});',
        'const isCI = !!process.env.CI;\ntest("a", () => {\n  if (!isCI) return;\n  expect(1).toBe(1);\n});',
        'import { env } from "node:process";\ntest("a", () => {\n  if (!env.CI) return;\n  expect(1).toBe(1);\n});',
        "function same(a, b) {\n  if (!process.env.CI) return;\n  expect(a).toBe(b);\n}",
        'test("a", () => {\n  if (process.env.CI) {\n    expect(1).toBe(1);\n  }\n});',
        'test("a", () => {\n  if (!process.env.CI) skipped();\n  else expect(1).toBe(1);\n});',
        'test("a", () => {\n  if (process.env.CI && parse("a") !== 1) throw new Error("no");\n});',
        'test("a", () => {\n  if (!process.env.CI || slow) return;\n  expect(1).toBe(1);\n});',
        'test("a", () => {\n  process.env.CI && expect(1).toBe(1);\n});',
        'test("a", () => {\n  !process.env.CI || expect(1).toBe(1);\n});',
        'test("a", () => {\n  if ("CI" in process.env) expect(1).toBe(1);\n});',
        'test.skipIf(!process.env.CI)("a", () => { expect(1).toBe(1); });',
        'describe.skipIf(!Boolean(process.env.CI))("a", () => {});',
        'test.runIf(process.env.CI)("a", () => { expect(1).toBe(1); });',
        'it.runIf(process.env.CI === "true")("a", () => {});',
        'test("a", { skip: !process.env.CI }, () => { expect(1).toBe(1); });',
        '(process.env.CI ? test : test.skip)("a", () => { expect(1).toBe(1); });',
        "const given = process.env.CI ? it : it.skip;",
        'if (process.env.CI) {\n  test("a", () => { expect(1).toBe(1); });\n}',
    ],
}
LEFT_ALONE = {
    "python": [
        'def test_a(request):\n    if hasattr(request.config, "workerinput"):\n        use(2)\n    assert f(1) == 2',
        'def test_a(pytestconfig):\n    known = pytestconfig.cache.get("a/b", None)\n    assert parse(known) == 2',
        'def test_a(settings):\n    if hasattr(settings, "cache"):\n        return\n    assert f(1) == 2',
    ],
    "go": [
        "func within(t *testing.T) context.Context { end, ok := t.Deadline(); if !ok { return background }\n"
        "ctx, cancel := context.WithDeadline(background, end); t.Cleanup(cancel); return ctx }\n"
        "func TestA(t *testing.T) { if got := run(within(t)); got != 1 { t.Fatal(got) } }",
        "func TestA(t *testing.T) { end, ok := t.Deadline(); if !ok { end = time.Now().Add(hour) }; same(t, end) }",
        "func TestA(t *testing.T) { if _, ok := ctx.Deadline(); !ok { t.Fatal(1) } }",
        "func TestA(t *testing.T) { if got != 1 { t.Fatal(1) }; if !testing.Verbose() { return }; t.Log(got) }",
        'func TestA(t *testing.T) { if testing.Verbose() { t.Log("more") }; assert.Equal(t, 1, 1) }',
        'func TestA(t *testing.T) { if testing.Verbose() { t.Logf("%v", rows); dump(rows) }; assert.True(t, ok) }',
        "func TestA(t *testing.T) { if !testing.Verbose() { log.SetOutput(io.Discard) }; assert.Equal(t, 1, 1) }",
        'func TestA(t *testing.T) { if testing.Short() { t.Skip("slow") }; assert.Equal(t, 1, 1) }',
        "func TestA(t *testing.T) { if testing.Verbose() { return }; assert.Equal(t, 1, 1) }",
        'func TestA(t *testing.T) { if bad && testing.Verbose() { t.Log("more") }; if bad { t.Fatal("no") } }',
        "func TestA(t *testing.T) { out := io.Discard; if testing.Verbose() { out = os.Stderr }; same(t, run(out)) }",
        "func TestA(t *testing.T) { assert.Equal(t, 1, 1); if !testing.Verbose() { return } }",
        "func TestA(t *testing.T) { options.Verbose = testing.Verbose(); require.NoError(t, run(options)) }",
        "func debug(t *testing.T, text string) { if !testing.Verbose() { return }; t.Log(text) }",
        "func TestMain(m *testing.M) { if !testing.Verbose() { log.SetOutput(io.Discard) }; os.Exit(m.Run()) }",
        'func TestA(t *testing.T) { if flag.Lookup("test.v") == nil { return }; compare(t) }',
        'func TestA(t *testing.T) { if flag.Lookup("test.short").Value.String() == "true" { return }; compare(t) }',
        'func TestA(t *testing.T) { if flag.Lookup("test.v").Value.String() == "true" { t.Log("a") }; compare(t) }',
        'func TestA(t *testing.T) { if flag.Lookup("config").Value.String() == "" { return }; compare(t) }',
        'func TestA(t *testing.T) { cmd := exec.Command(os.Args[0], "-test.run=TestHelper"); same(t, cmd.Run()) }',
        'func TestA(t *testing.T) { if runs(append(os.Args, "-test.run=TestB")) != nil { t.Fail() } }',
        'func TestA(t *testing.T) { out := run(exec.Command(os.Args[0], "-test.run=TestB")); '
        'if !strings.Contains(out, "-test.run") { return }; compare(t) }',
        'func TestA(t *testing.T) { os.Args = []string{"x", "-v"}; if parse(os.Args[1:]) != nil { t.Fatal("no") } }',
        'func TestA(t *testing.T) { if os.Args[len(os.Args)-1] != "helper" { return }; compare(t) }',
    ],
    "typescript": [
        'test("a", () => {\n  expect(1).toBe(1);\n  if (!process.env.CI) return;\n  console.log(1);\n});',
        'const isCI = () => !!process.env.CI;\ntest("a", () => {\n  if (isCI()) return;\n  expect(1).toBe(1);\n});',
        'test("a", () => {\n  let limit = 10;\n  if (process.env.CI) limit = 100;\n  expect(1).toBe(limit);\n});',
        "const limit = process.env.CI ? 10_000 : 1_000;",
        "if (process.env.CI) vi.setConfig({ testTimeout: 20_000 });",
        'test.skipIf(process.env.CI)("a", () => { expect(1).toBe(1); });',
        'test.runIf(!process.env.CI)("a", () => { expect(1).toBe(1); });',
        'test("a", { skip: !!process.env.CI }, () => { expect(1).toBe(1); });',
        'test("a", () => {\n  if (process.env.CI) return;\n  expect(1).toBe(1);\n});',
        'test("a", (context) => {\n  if (process.env.CI) context.skip();\n  expect(1).toBe(1);\n});',
        '(process.env.CI ? test.skip : test)("a", () => { expect(1).toBe(1); });',
        'if (process.env.CI) {\n  test.skip("a", () => {});\n} else {\n  test("a", () => { expect(1).toBe(1); });\n}',
        "function report(text) {\n  if (!process.env.CI) return;\n  console.log(text);\n}",
        'test("a", () => {\n  if (process.env.CI) expect(a).toBe(1);\n  else expect(a).toBe(2);\n});',
        'test("a", () => {\n  vi.stubEnv("CI", "true");\n  expect(isColored(process.env.CI)).toBe(false);\n});',
        'test("a", () => {\n  process.env.CI = "1";\n  expect(detect()).toBe("ci");\n  delete process.env.CI;\n});',
        'test("a", () => {\n  if (!process.env.HOME) return;\n  expect(1).toBe(1);\n});',
        "const retries = process.env.CI || 0;",
        'test("a", async () => {\n  await listen(Number(process.env.VITEST_POOL_ID));\n  expect(1);\n});',
        'test("a", () => {\n  expect(1).toBe(1);\n  if (!process.env.CI) return;\n});',
        'test("a", () => {\n  if (!process.env.CI) console.log(parse("a"));\n  expect(1).toBe(1);\n});',
    ],
}


@pytest.mark.parametrize(("language", "text"), [(name, text) for name in MARKED for text in MARKED[name]])
def test_checks_that_depend_on_being_judged_are_seen(language: str, text: str) -> None:
    assert "asks whether it is judged" in sights(language, text)


@pytest.mark.parametrize(("language", "text"), [(name, text) for name in LEFT_ALONE for text in LEFT_ALONE[name]])
def test_what_leads_to_no_check_or_to_a_skip_in_the_arms_is_left_alone(language: str, text: str) -> None:
    assert sights(language, text) == []


@pytest.mark.parametrize(("language", "text"), [(name, text) for name in SCANNING for text in SCANNING[name]])
def test_a_look_for_the_names_of_testwright_among_all_of_the_environment_is_seen(language: str, text: str) -> None:
    assert "asks whether it is judged" in sights(language, text)


@pytest.mark.parametrize(
    ("language", "text"), [(name, text) for name in SCANNING_HONESTLY for text in SCANNING_HONESTLY[name]]
)
def test_other_beginnings_and_files_that_look_at_no_environment_are_left_alone(language: str, text: str) -> None:
    assert sights(language, text) == []
