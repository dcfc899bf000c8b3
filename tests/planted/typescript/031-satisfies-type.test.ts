// kind: member; line: 8; name: ObjectShape; how: absent type after satisfies
import { expect, test } from "vitest";
import * as z from "zod/v4";

const shape = {
  id: z.uuid(),
  count: z.int(),
} satisfies z.core.ObjectShape;

test("a shape can be shared", () => {
  const id = "b3b6c1c4-7a5e-4f0e-9d0a-6a1f5f2a9a11";
  expect(z.object(shape).parse({ id, count: 1 })).toEqual({ id, count: 1 });
  expect(z.strictObject(shape).safeParse({ id, count: 1, x: 1 }).success).toBe(false);
});
