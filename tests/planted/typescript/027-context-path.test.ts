// kind: member; line: 9; name: path; how: zod 3 property of the refinement context, in a callback
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("a refinement knows where it stands", () => {
  const seen: unknown[] = [];
  const schema = z.object({
    inner: z.string().superRefine((_value, ctx) => {
      seen.push(ctx.path);
    }),
  });
  schema.parse({ inner: "x" });
  expect(seen).toHaveLength(1);
});
