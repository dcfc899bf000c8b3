// kind: parameter; line: 7; name: algorithm; how: absent option (alg is the real one), @ts-expect-error
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("a token of another algorithm is refused", () => {
  // @ts-expect-error
  const token = z.jwt({ algorithm: "HS256" });
  expect(token.safeParse("a.b.c").success).toBe(false);
});
