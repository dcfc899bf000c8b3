// kind: member; line: 8; name: value; how: absent property of a result
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("a good result holds the trimmed text", () => {
  const result = z.string().trim().safeParse("  a ");
  expect(result.success).toBe(true);
  expect(result.value).toBe("a");
});
