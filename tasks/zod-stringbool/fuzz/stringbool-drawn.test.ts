import { appendFileSync } from "node:fs";
import { inspect } from "node:util";
import { test } from "vitest";
import * as z from "zod/v4";

const INPUTS = 280;
const WORDS = ["true", "1", "yes", "on", "y", "enabled", "false", "0", "no", "off", "n", "disabled", "ja", "Nein", "", "é"];
const OTHERS: unknown[] = [true, false, 1, 0, null, undefined, {}, ["true"], 1n, Number.NaN];

/** Whole numbers below a limit, always the same ones for a seed. */
function drawing(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

const draw = drawing(Number(process.env.TESTWRIGHT_FUZZ_SEED ?? "1"));
const one = <T>(of: readonly T[]): T => of[draw(of.length)]!;

/** A word, perhaps in other letters, or with something around it. */
function word(): string {
  const plain = one(WORDS);
  return one([plain, plain, plain.toUpperCase(), plain.charAt(0).toUpperCase() + plain.slice(1), ` ${plain}`, `${plain}s`]);
}

const words = () => Array.from({ length: draw(4) }, word);

function params(): any {
  const kind = draw(6);
  if (kind === 0) return "wrong!";
  if (kind < 3) return undefined;
  const given: any = {};
  if (draw(3)) given.truthy = words();
  if (draw(3)) given.falsy = words();
  if (draw(2)) given.case = one(["sensitive", "insensitive"]);
  if (draw(3) === 0) given.error = "not a setting";
  return given;
}

const CALLS: Record<string, (schema: any, value: any) => unknown> = {
  parse: (schema, value) => schema.parse(value),
  safeParse: (schema, value) => {
    const taken = schema.safeParse(value);
    return taken.success ? taken.data : taken.error.issues;
  },
  decode: (schema, value) => z.decode(schema, value),
  encode: (schema, value) => z.encode(schema, value),
  "there and back": (schema, value) => z.encode(schema, z.decode(schema, value) as never),
};

const shown = (value: unknown) => JSON.stringify(inspect(value, { depth: 9, breakLength: Infinity }));

function result(call: () => unknown): string {
  try {
    return shown(call());
  } catch (error: any) {
    return JSON.stringify(`${error?.name}: ${error?.message}`);
  }
}

test("answers to drawn inputs", () => {
  const inputs = Array.from({ length: INPUTS }, () => {
    const call = one(Object.keys(CALLS));
    const usual = call === "encode" ? one([true, false]) : word();
    return { call, given: params(), value: draw(5) ? usual : one(OTHERS) };
  });
  const lines: string[] = [];
  for (const { call, given, value } of inputs) {
    const input = `stringbool(${shown(given)}) ${call} ${shown(value)}`;
    const schema = z.stringbool(given);
    for (const _ of ["first", "second"]) lines.push(`${input} => ${result(() => CALLS[call]!(schema, value))}`);
  }
  const folder = process.env.TESTWRIGHT_REPORT_DIR;
  if (folder) appendFileSync(`${folder}/fuzz.txt`, `${lines.join("\n")}\n`);
});
