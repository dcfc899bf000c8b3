// kind: member; line: 6; name: ip; how: zod 3 method of a string schema
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("addresses of both versions", () => {
  const address = z.string().ip();
  expect(address.safeParse("127.0.0.1").success).toBe(true);
  expect(address.safeParse("::1").success).toBe(true);
  expect(address.safeParse("256.1.1.1").success).toBe(false);
});
