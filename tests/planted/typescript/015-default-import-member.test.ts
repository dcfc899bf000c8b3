// kind: member; line: 6; name: validatorOf; how: absent property of the default import
import { expect, test } from "vitest";
import zod from "zod/v4";

test("a validator is a function that says yes or no", () => {
  const isPort = zod.validatorOf(zod.int().min(1).max(65535));
  expect(isPort(80)).toBe(true);
  expect(isPort(0)).toBe(false);
});
