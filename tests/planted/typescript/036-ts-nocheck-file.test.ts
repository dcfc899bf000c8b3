// kind: member; line: 7; name: phone; how: hidden by @ts-nocheck
// @ts-nocheck
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("a phone number", () => {
  const phone = z.string().phone("not a phone number");
  const { error } = phone.safeParse("abc");
  expect(error.issues[0].message).toBe("not a phone number");
});
