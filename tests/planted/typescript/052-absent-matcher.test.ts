// kind: member; line: 6; name: toBeSuccessful; how: absent matcher of vitest
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("a URL", () => {
  expect(z.url().safeParse("https://example.com")).toBeSuccessful();
});
