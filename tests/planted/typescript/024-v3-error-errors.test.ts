// kind: member; line: 12; name: errors; how: zod 3 property of an error
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("two wrong fields make two errors", () => {
  const schema = z.object({ a: z.string(), b: z.string() });
  try {
    schema.parse({ a: 1, b: 2 });
    expect.unreachable();
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    expect(error.errors.map((e: { path: unknown }) => e.path)).toEqual([["a"], ["b"]]);
  }
});
