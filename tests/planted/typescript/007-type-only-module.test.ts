// kind: module; line: 4; name: zod/v4/types; how: import type, erased at run time
import { expect, test } from "vitest";
import * as z from "zod/v4";
import type { AnySchema } from "zod/v4/types";

function accepts(schema: AnySchema, value: unknown): boolean {
  return (schema as z.ZodType).safeParse(value).success;
}

test("null is not undefined", () => {
  expect(accepts(z.null(), null)).toBe(true);
  expect(accepts(z.null(), undefined)).toBe(false);
  expect(accepts(z.undefined(), undefined)).toBe(true);
});
