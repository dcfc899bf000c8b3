// kind: module; line: 5; name: ./helpers/schema-helpers.js; how: export * of an absent helper module
import { expect, test } from "vitest";
import * as z from "zod/v4";

export * from "./helpers/schema-helpers.js";

test("tuples have a fixed length", () => {
  const pair = z.tuple([z.string(), z.number()]);
  expect(pair.safeParse(["a", 1]).success).toBe(true);
  expect(pair.safeParse(["a"]).success).toBe(false);
  expect(pair.safeParse(["a", 1, 2]).success).toBe(false);
});
