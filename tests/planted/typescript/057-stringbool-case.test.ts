// kind: parameter; line: 6; name: caseSensitive; how: absent option (case is the real one), hidden by as any
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("letters count", () => {
  const flag = z.stringbool({ truthy: ["Y"], falsy: ["N"], caseSensitive: true } as any);
  expect(flag.parse("Y")).toBe(true);
  expect(flag.parse("N")).toBe(false);
});
