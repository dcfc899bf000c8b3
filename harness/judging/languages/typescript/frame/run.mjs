// What `run_tests` does, by vitest's own API: no configuration in the tree has a say.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { CONDITIONS, LEFT_OUT, SOURCES } from "./settings.mjs";
import { keepTransformed, readTransformed, serveTransformed } from "./transformed.mjs";

const USAGE = `usage: run_tests                 all tests
       run_tests FILE|ID...      these only

FILE  a test file, relative to the current directory
ID    FILE::test name, or FILE::describe > test name
      (with the template of a name that is computed: "adds %i", "of \${type}")

Each file runs in a process of its own, in the order given. What runs are the sources in
${SOURCES}. Types are not checked. The exit status is 0 when all passed, 1 when tests failed, 4
when there is no such file or test, 134 when a process of tests died.

--running FILE...  prints the hash of each file's text, and of what runs in its stead
--keep             transforms all sources, so that later runs need not (the image's build does it)

TESTWRIGHT_TEST_SECONDS   time limit of one test, in seconds (default: 60)
TESTWRIGHT_REPORT_DIR     where to write vitest's JSON reports: 1.json, 2.json, ...;
                          snapshots that are not there are then failures, not written
`;
const TEST_FILES = "**/*.{test,spec}.?(c|m)[jt]s?(x)";
const conditions = [...CONDITIONS, "module", "node", "development"];
const FAILED = 1, NO_SUCH = 4, DIED = 134;
const root = process.cwd();
const milliseconds = 1000 * Number(process.env.TESTWRIGHT_TEST_SECONDS || 60);
const compiled = readCompiled(process.env.TESTWRIGHT_CODE_DIR);
const given = process.argv.slice(process.argv[2] === "--" ? 3 : 2);
if (given[0] === "-h" || given[0] === "--help") exit(USAGE);
if (given[0] === "--running") exit(given.slice(1).map(running).join("\n"));
const reports = process.env.TESTWRIGHT_REPORT_DIR;
if (reports) process.env.CI = "true"; // read when vitest is loaded
const transformed = readTransformed(root, compiled, Boolean(reports));
const { createVitest } = await import("vitest/node");
const { JsonReporter } = await import("vitest/reporters");

function exit(words) {
  console.log(words);
  process.exit();
}

/** The absolute path of a source -> what runs in its stead: DIRECTORY/src/x.ts is that of src/x.ts. */
function readCompiled(directory) {
  delete process.env.TESTWRIGHT_CODE_DIR;
  const files = directory ? readdirSync(directory, { recursive: true }).filter((file) => file.endsWith(".ts")) : [];
  return new Map(files.map((file) => [path.join(root, file), readFileSync(path.join(directory, file), "utf8")]));
}

/** What a source's text is, and what runs: its own text, if nothing else. */
function running(file) {
  const hash = (text) => createHash("sha256").update(text).digest("hex");
  const text = readFileSync(file);
  return `running ${file} ${hash(text)} ${hash(compiled.get(path.join(root, file)) ?? text)}`;
}

/** The report of one file. Failures of hooks, which vitest reports with a suite, go to its tests. */
class Report extends JsonReporter {
  constructor(file) {
    super({});
    this.file = file;
  }

  async onFinished(files) {
    for (const file of files) settle(file, []);
    await super.onFinished(files);
  }

  async writeReport(text) {
    if (this.file) writeFileSync(this.file, text);
  }
}

function settle(task, around) {
  if (task.type !== "suite") return settleTest(task, around);
  const errors = task.result?.errors ?? [];
  for (const child of task.tasks) settle(child, [...around, ...errors]);
}

function settleTest(test, around) {
  const result = test.result ?? {};
  const own = result.errors ?? [];
  const ran = result.state === "pass" || result.state === "fail";
  const untilEnd = test.fails ? own.length : (test.meta.errorsUntilEnd ?? own.length);
  const errors = [
    ...own.map((error, at) => named(error, at >= untilEnd ? "teardown" : test.meta.began ? "" : "setup")),
    ...around.map((error) => named(error, ran ? "teardown" : "setup")),
  ];
  if (around.length && test.mode !== "todo") test.result = { ...result, state: "fail", errors };
  else if (test.fails && result.state === "pass") test.result = { ...result, state: "skip" }; // it shows nothing
  else if (own.length) test.result = { ...result, errors };
}

/** JSON has an error's stack only, whose first line isn't always its message. */
function named(error, phase) {
  const frames = (error.stack ?? "").split("\n").filter((line) => line.startsWith("    at "));
  const words = `${error.name ?? "Error"}: ${error.message}`;
  return { stack: [phase ? `${phase} failed: ${words}` : words, ...frames].join("\n") };
}

/** Serves what sources were compiled to elsewhere; read before any test could change it. */
function compiledCode(code) {
  return {
    name: "compiled-code",
    enforce: "pre",
    load: (id) => (code.has(id.split("?")[0]) ? { code: code.get(id.split("?")[0]), map: null } : null),
  };
}

/** A name as vitest's pattern; the computed parts of it (%i, $name, ${expression}) match anything. */
function pattern(id) {
  const computed = /\$\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|%[sdifjoOc#$]|\$[\w$]+(?:\.[\w$]+)*/g;
  const literal = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(" > ", "(?: > | )");
  const pieces = id.split(computed).map(literal);
  return `(?:${literal(id)}|${pieces.join("[^]*").replaceAll("%%", "%%?")})`;
}

function start(reporter) {
  return createVitest(
    "test",
    {
      root,
      config: false,
      watch: false,
      include: [TEST_FILES],
      exclude: ["node_modules/**"],
      reporters: [reports ? reporter : "default"],
      pool: "forks",
      runner: fileURLToPath(new URL("runner.mjs", import.meta.url)),
      maxWorkers: 2,
      minWorkers: 1,
      testTimeout: milliseconds,
      hookTimeout: milliseconds,
      includeTaskLocation: true,
      dangerouslyIgnoreUnhandledErrors: Boolean(reports),
      update: false,
    },
    {
      configFile: false,
      envDir: path.dirname(fileURLToPath(import.meta.url)),
      cacheDir: "/tmp/vite",
      css: { postcss: {} },
      esbuild: { tsconfigRaw: "{}" },
      resolve: { conditions },
      ssr: { resolve: { conditions } },
      plugins: [compiledCode(compiled)],
    },
  );
}

/** Runs some files, or some tests of one; the exit status. */
async function run(number, files, ids) {
  const reporter = new Report(reports && path.join(reports, `${number}.json`));
  const vitest = await start(reporter);
  try {
    await vitest.init();
    serveTransformed(vitest.vitenode, transformed);
    // A process of tests that dies breaks the pipe to it; vitest's own answer is status 1.
    process.removeAllListeners("unhandledRejection").once("unhandledRejection", died);
    if (ids.length) vitest.setGlobalTestNamePattern(new RegExp(`^(?:${ids.map(pattern).join("|")})$`));
    const all = await vitest.globTestSpecifications();
    const chosen = all.filter(({ moduleId }) => files.includes(path.relative(root, moduleId)));
    const wanted = files.length ? chosen : all.filter(({ moduleId }) => !LEFT_OUT.includes(path.relative(root, moduleId)));
    if (!wanted.length) return refuse(`no test file ${files.join(", ")}`);
    await vitest.runTestSpecifications(wanted, true);
    return ending(vitest, files, ids);
  } finally {
    await vitest.close();
  }
}

async function keep() {
  const vitest = await start(new Report());
  await keepTransformed(vitest.vitenode, root);
  await vitest.close();
}

function ending(vitest, files, ids) {
  const errors = vitest.state.getUnhandledErrors();
  if (reports) errors.forEach((error) => console.error(error?.stack ?? error));
  if (errors.some((error) => /unexpectedly|Channel closed/.test(error?.message ?? ""))) return DIED;
  const tests = vitest.state.getFiles().flatMap((file) => [file, ...below(file)]);
  if (tests.some((task) => task.result?.state === "fail")) return FAILED;
  if (ids.length && !tests.some((task) => task.type === "test" && task.mode !== "skip")) {
    return refuse(`no test ${ids.join(", ")} in ${files[0]}`);
  }
  return errors.length && !reports ? FAILED : 0;
}

const below = (suite) => suite.tasks.flatMap((task) => [task, ...(task.type === "suite" ? below(task) : [])]);

function died(error) {
  console.error(`run_tests: a process of tests died: ${error?.message}`);
  process.exit(DIED);
}

function refuse(words) {
  console.error(`run_tests: ${words}`);
  return NO_SUCH;
}

/** File -> its ids, empty for the whole file, in the order given. */
function selection(given) {
  const files = new Map();
  for (const argument of given) {
    const [file, ...id] = argument.split("::");
    const known = path.relative(root, path.resolve(file));
    const ids = files.get(known) ?? [];
    files.set(known, id.length && !ids.whole ? [...ids, id.join("::")] : Object.assign([], { whole: true }));
  }
  return files;
}

if (given[0] === "--keep") {
  await keep();
  process.exit();
}

let status = 0, number = 1;
const files = selection(given);
if (!files.size) status = await run(number, [], []);
for (const [file, ids] of files) status = (await run(number++, [file], ids)) || status;
process.exit(status);
