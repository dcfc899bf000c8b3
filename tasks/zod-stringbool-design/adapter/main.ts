// Plays designed cases on z.stringbool() and reports JUnit.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/v4";

type Fields = Record<string, string>;
type Outcome = [name: string, fields: Fields];

const OTHERS: Record<string, unknown> = {
  "number-1": 1,
  "number-0": 0,
  "true-itself": true,
  "false-itself": false,
  nothing: undefined,
  "list-of-true": ["true"],
};

function parsed(told: string[]): Fields {
  return Object.fromEntries(
    told.map((each) => {
      const place = each.indexOf("=");
      return [each.slice(0, place), decodeURIComponent(each.slice(place + 1))];
    })
  );
}

class Subject {
  private params: { truthy?: string[]; falsy?: string[]; case?: "sensitive"; error?: string } = {};

  act(op: string, fields: Fields): Outcome {
    const text = (name: string) => fields[name]!.slice(2);
    const words = () => ["first", "second", "third"].filter((name) => name in fields).map(text);
    if (op === "yes_words") this.params.truthy = words();
    else if (op === "no_words") this.params.falsy = words();
    else if (op === "exact") this.params.case = "sensitive";
    else if (op === "complaint") this.params.error = text("text");
    else if (op === "read") return this.read(text("text"));
    else if (op === "read_other") return this.read(OTHERS[text("what")]);
    else return ["written", { text: `t:${z.stringbool(this.params).encode(fields.value === "f:true")}` }];
    return ["made", {}];
  }

  private read(value: unknown): Outcome {
    const found = z.stringbool(this.params).safeParse(value);
    if (found.success) return ["is", { value: `f:${found.data}` }];
    return ["refused", { complaint: `t:${found.error.issues[0]!.message}` }];
  }
}

function play(lines: string[][]): string {
  const subject = new Subject();
  let [name, got]: Outcome = ["nothing", {}];
  try {
    for (const line of lines) {
      if (line[0] !== "then") {
        [name, got] = subject.act(line[2]!, parsed(line.slice(3)));
        continue;
      }
      if (line[1] !== name) return `AssertionError: expected ${line[1]}, got ${name}`;
      for (const [field, value] of Object.entries(parsed(line.slice(2)))) {
        if (got[field] !== value) return `AssertionError: expected ${field} ${value}, got ${got[field]}`;
      }
    }
  } catch (error) {
    return String(error);
  }
  return "";
}

const escaped = (text: string) => text.replace(/[^ !#-%'-;=?-~]/g, (char) => `&#${char.codePointAt(0)};`);
const cases: Record<string, string[][]> = {};
let current: string[][] = [];
for (const line of readFileSync("testwright_design/cases", "utf8").split("\n").filter(Boolean)) {
  const [kind, ...rest] = line.split("\t");
  if (kind === "case") cases[rest[0]!] = current = [];
  else current.push([kind!, ...rest]);
}
let report = "";
for (const test of process.argv.slice(2)) {
  const [file, name] = test.split("::") as [string, string];
  const words = play(cases[name]!);
  if (words) process.exitCode = 1;
  const fault = words ? `<failure message="${escaped(words)}"/>` : "";
  report += `<testcase classname="${file.replaceAll("/", ".")}" name="${name}">${fault}</testcase>`;
}
writeFileSync(join(process.env.TESTWRIGHT_REPORT_DIR!, "1.xml"), `<testsuite>${report}</testsuite>\n`);
