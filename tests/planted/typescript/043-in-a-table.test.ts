// kind: member; line: 7; name: latitude; how: in a test.each table
import { expect, test } from "vitest";
import * as z from "zod/v4";

test.each([
  ["an e-mail address", z.email(), "a@example.com", "a@"],
  ["a latitude", z.latitude(), 45, 91],
  ["an integer", z.int(), 3, 3.5],
])("%s", (_name, schema, good, bad) => {
  expect(schema.safeParse(good).success).toBe(true);
  expect(schema.safeParse(bad).success).toBe(false);
});
