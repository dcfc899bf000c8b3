// kind: member; line: 9; name: unionErrors; how: zod 3 property of an issue, through any
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("each option of a union has its errors", () => {
  const { error } = z.union([z.string(), z.number()]).safeParse(true);
  const issue: any = error!.issues[0];
  expect(issue.code).toBe("invalid_union");
  for (const inner of issue.unionErrors ?? []) {
    expect(inner.issues).toHaveLength(1);
  }
});
