// kind: member; line: 6; name: oneOf; how: absent export, borrowed from another library
import { describe, expect, test } from "vitest";
import * as z from "zod/v4";

describe("one of some values", () => {
  const Size = z.oneOf(["small", "large"]);

  test("accepts each of them", () => {
    for (const size of ["small", "large"]) expect(Size.parse(size)).toBe(size);
  });

  test("refuses others", () => {
    expect(() => Size.parse("medium")).toThrow(z.ZodError);
  });
});
