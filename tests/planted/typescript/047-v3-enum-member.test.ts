// kind: member; line: 7; name: invalid_string; how: member of an enum, zod 3
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("codes are named", () => {
  const { error } = z.email().safeParse("nobody");
  const known: unknown[] = [z.ZodIssueCode.invalid_format, z.ZodIssueCode.invalid_string];
  expect(known).toContain(error!.issues[0].code);
});
