// kind: member; line: 2; name: randomHex; how: named import from a Node builtin
import { randomHex } from "node:crypto";
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("random digits are digits", () => {
  expect(z.hex().safeParse(randomHex(8)).success).toBe(true);
});
