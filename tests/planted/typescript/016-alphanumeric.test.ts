// kind: member; line: 8; name: alphanumeric; how: absent method in a chain
import { expect, test } from "vitest";
import * as z from "zod/v4";

const Code = z
  .string()
  .min(2)
  .alphanumeric()
  .max(8);

test("letters and digits pass", () => {
  expect(Code.parse("ab12")).toBe("ab12");
});

test("signs do not", () => {
  expect(Code.safeParse("ab-12").success).toBe(false);
});
