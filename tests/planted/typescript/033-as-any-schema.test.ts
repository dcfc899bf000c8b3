// kind: member; line: 7; name: sanitize; how: hidden by as any on a schema
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("markup is taken away", () => {
  const text = z.string();
  const clean = (text as any).sanitize();
  expect(clean.parse("<b>x</b>")).toBe("x");
});
