// kind: member; line: 9; name: typeName; how: zod 3 property of a definition
import { expect, test } from "vitest";
import * as z from "zod/v4";

test.each([
  ["a string", z.string(), "ZodString"],
  ["a number", z.number(), "ZodNumber"],
])("%s knows its name", (_name, schema, expected) => {
  expect(schema._zod.def.typeName).toBe(expected);
});
