// kind: module; line: 3; name: zod/v5; how: entry point of a later major version
import { describe, expect, test } from "vitest";
import * as z from "zod/v5";

describe("string lengths", () => {
  test("too short", () => {
    expect(z.string().min(3).safeParse("ab").success).toBe(false);
  });

  test("just long enough", () => {
    expect(z.string().min(3).parse("abc")).toBe("abc");
  });
});
