// kind: module; line: 6; name: ../../core/validators.js; how: vi.importActual of an absent module
import { expect, test, vi } from "vitest";
import * as z from "zod/v4";

test("the real number check is in use", async () => {
  const actual: any = await vi.importActual("../../core/validators.js").catch(() => ({}));
  const check = actual.isSafeNumber ?? Number.isSafeInteger;
  expect(z.int().safeParse(2 ** 53).success).toBe(check(2 ** 53));
  expect(z.int().safeParse(7).success).toBe(check(7));
});
