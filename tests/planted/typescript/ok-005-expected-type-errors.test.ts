// kind: none; line: 0; name: -; how: @ts-expect-error on wrong types in tests of refusal
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("keys that are not there are refused by pick", () => {
  const schema = z.object({ a: z.string() });
  // @ts-expect-error no such key
  expect(() => schema.pick({ b: true }).parse({})).toThrow();
});

test("text is not a number", () => {
  // @ts-expect-error wrong type of the default
  const schema = z.number().default("ten");
  expect(schema.parse(undefined)).toBe("ten");
});

test("encode wants a boolean", () => {
  // @ts-expect-error wrong type of the data
  expect(() => z.stringbool().encode("maybe")).toThrow();
});

test("parse wants an argument", () => {
  // @ts-expect-error too few arguments
  expect(() => z.string().parse()).toThrow(z.ZodError);
});
