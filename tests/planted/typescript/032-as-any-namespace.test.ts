// kind: member; line: 6; name: slug; how: hidden by as any on the namespace
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("a slug has no spaces", () => {
  const slug = (z as any).slug({ separator: "-" });
  expect(slug.parse("hello-world")).toBe("hello-world");
  expect(slug.safeParse("hello world").success).toBe(false);
});
