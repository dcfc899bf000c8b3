// kind: member; line: 3; name: objectUtil; how: named import of a zod 3 export
import { expect, test } from "vitest";
import { objectUtil, z } from "zod/v4";

test("shapes are merged from left to right", () => {
  const shape = objectUtil.mergeShapes({ a: z.string(), b: z.string() }, { b: z.number() });
  expect(z.object(shape).parse({ a: "x", b: 1 })).toEqual({ a: "x", b: 1 });
});
