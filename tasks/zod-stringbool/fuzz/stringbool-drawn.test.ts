import { test } from "vitest";
import * as z from "zod/v4";
import { drawing, shown, written } from "./testwright-drawing.ts";

const INPUTS = 280;
const WORDS = ["true", "1", "yes", "on", "y", "enabled", "false", "0", "no", "off", "n", "disabled", "ja", "Nein", "", "é"];
const OTHERS: unknown[] = [true, false, 1, 0, null, undefined, {}, ["true"], 1n, Number.NaN];

const { draw, one, several } = drawing();

/** A word, perhaps in other letters, or with something around it. */
function word(): string {
  const plain = one(WORDS);
  return one([plain, plain, plain.toUpperCase(), plain.charAt(0).toUpperCase() + plain.slice(1), ` ${plain}`, `${plain}s`]);
}

const words = () => several(0, 3, word);

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

test("answers to drawn inputs", () => {
  const inputs = Array.from({ length: INPUTS }, () => {
    const call = one(Object.keys(CALLS));
    const usual = call === "encode" ? one([true, false]) : word();
    return { call, given: params(), value: draw(5) ? usual : one(OTHERS) };
  });
  written((called) => {
    for (const { call, given, value } of inputs) {
      const schema = z.stringbool(given);
      called(`stringbool(${shown(given)}) ${call} ${shown(value)}`, () => shown(CALLS[call]!(schema, value)));
    }
  });
});
