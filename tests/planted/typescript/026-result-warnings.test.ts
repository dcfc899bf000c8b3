// kind: member; line: 10; name: warnings; how: absent property of a destructured async result
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("a slow check can say no", async () => {
  const schema = z.string().refine(async (text) => text !== "taken", "already taken");
  const {
    success,
    error,
    warnings = [],
  } = await schema.safeParseAsync("taken");
  expect(success).toBe(false);
  expect(error!.issues[0].message).toBe("already taken");
  expect([...issuesOf(error), ...warnings]).toHaveLength(1);
});

function* issuesOf(error: z.ZodError | undefined) {
  yield* error?.issues ?? [];
}
