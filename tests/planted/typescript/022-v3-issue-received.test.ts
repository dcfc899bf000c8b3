// kind: member; line: 11; name: received; how: zod 3 property of an issue after narrowing
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("the issue tells what was expected and what came", () => {
  const result = z.object({ age: z.number() }).safeParse({ age: "ten" });
  if (result.success) throw new Error("should have failed");
  const issue = result.error.issues[0];
  if (issue.code !== "invalid_type") throw new Error("another issue");
  expect(issue.expected).toBe("number");
  expect(issue.received).toBe("string");
});
