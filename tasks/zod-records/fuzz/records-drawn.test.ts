import { test } from "vitest";
import * as z from "zod/v4";
import { drawing, shown as shownTo, written } from "./testwright-drawing.ts";

const INPUTS = 400;
const { draw, one, several } = drawing();
const NAMES = ["a", "b", "B", "first name", "x-1", "x-2", "", "1", "2", "-1.5", "01", "constructor", "toString", "__proto__"];
const SYMBOL = Symbol("of a key");

const lower = (key: string) => key.toLowerCase();
const KEYS: Record<string, () => any> = {
  text: () => z.string(),
  pattern: () => z.string().regex(/^x-/),
  "lower case": () => z.string().transform(lower),
  "into __proto__": () => z.string().transform((key) => (key === "b" ? "__proto__" : key)),
  number: () => z.number(),
  "whole number": () => z.int(),
  "number, doubled": () => z.number().overwrite((n) => n * 2),
  "text or number": () => z.union([z.literal("a"), z.literal([1, 2])]),
  symbol: () => z.symbol(),
  enum: () => z.enum(["a", "b"]),
  literals: () => z.literal(["a", "x-1", "__proto__"]),
  numbers: () => z.literal([1, 2]),
  "literals, rewritten": () => z.literal(["a", "B"]).transform((key) => `${lower(key)}!`),
  "literals, some refused": () => z.enum(["a", "b"]).refine((key) => key === "a", "only a"),
};
const VALUES: Record<string, () => any> = {
  any: () => z.any(),
  number: () => z.number(),
  "object or text": () => z.union([z.object({ n: z.number() }), z.string()]),
  "default": () => z.number().default(7),
  optional: () => z.string().optional(),
  doubled: () => z.number().transform((n) => n * 2),
  asynchronous: () => z.number().refine(async (n) => n > 1, "too small"),
};
const KINDS: Record<string, (key: any, value: any) => any> = {
  record: z.record,
  partialRecord: z.partialRecord,
  looseRecord: z.looseRecord,
};

class Instance {
  a = 1;
}

const value = (): unknown => one<unknown>([1, 2, 3, "s", null, undefined, { n: 1 }, { n: "x" }]);

function data(): unknown {
  if (draw(15) === 0) return one<unknown>([null, undefined, "a", 1, [], [1], new Date(0), new Map(), new Instance(), () => 1]);
  const made: any = draw(8) ? {} : Object.create(null);
  const names: PropertyKey[] = several(0, 4, () => one(NAMES));
  if (draw(3) === 0) names.push("a", "b");
  if (draw(6) === 0) names.push(SYMBOL);
  for (const name of names) {
    const enumerable = draw(12) > 0;
    Object.defineProperty(made, name, { value: value(), enumerable, writable: true, configurable: true });
  }
  return made;
}

const shown = (given: unknown) => shownTo(given, { depth: 12, showHidden: true });

function told(result: any): string {
  if (!result.success) return JSON.stringify(result.error.issues, (_, each) => (typeof each === "symbol" ? String(each) : each));
  const keys = Reflect.ownKeys(result.data).map(String).join();
  return `${keys} ${shown(result.data)} ${Object.getPrototypeOf(result.data) === Object.prototype}`;
}

async function answer(schema: () => any, given: unknown, method: string): Promise<() => string> {
  try {
    const made = schema();
    const result = await made[method](given);
    return () => told(result);
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

test("answers to drawn inputs", async () => {
  const answers: [string, (() => string)[]][] = [];
  for (let round = 0; round < INPUTS; round++) {
    const [kind, key, of] = [KINDS, KEYS, VALUES].map((each) => one(Object.keys(each)));
    const given = data();
    const schema = () => KINDS[kind!]!(KEYS[key!]!(), VALUES[of!]!());
    const method = one(["safeParse", "safeParseAsync"]);
    const both = [await answer(schema, given, method), await answer(schema, given, method)];
    answers.push([`${method} by ${kind} of ${key} to ${of}: ${shown(given)}`, both]);
  }
  written((call) => {
    for (const [input, both] of answers) call(input, () => both.shift()!());
  });
});
