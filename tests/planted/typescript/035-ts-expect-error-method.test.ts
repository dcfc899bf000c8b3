// kind: member; line: 8; name: parseOrNull; how: hidden by @ts-expect-error
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("null instead of an error", () => {
  const schema = z.number().positive();
  // @ts-expect-error not in the public types
  expect(schema.parseOrNull(-1)).toBeNull();
});
