// kind: member; line: 7; name: formatIssue; how: absent member of z.core
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("an issue as a line of text", () => {
  const { error } = z.object({ a: z.string("not text") }).safeParse({ a: 1 });
  const lines = error!.issues.map((issue) => z.core.formatIssue(issue));
  expect(lines).toEqual(["a: not text"]);
});
