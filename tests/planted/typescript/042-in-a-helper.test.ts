// kind: member; line: 7; name: issueCount; how: in a helper used by several tests
import { describe, expect, test } from "vitest";
import * as z from "zod/v4";

function problems(schema: z.ZodType, data: unknown): number {
  const result = schema.safeParse(data);
  return result.success ? 0 : result.error.issueCount;
}

describe("numbers of problems", () => {
  const Box = z.object({ width: z.number(), height: z.number() });

  test("none", () => {
    expect(problems(Box, { width: 1, height: 2 })).toBe(0);
  });

  test("one for each side", () => {
    expect(problems(Box, {})).toBe(2);
  });
});
