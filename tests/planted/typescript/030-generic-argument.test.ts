// kind: member; line: 9; name: inferInput; how: absent type as a generic argument
import { expectTypeOf, expect, test } from "vitest";
import * as z from "zod/v4";

const Flag = z.stringbool();

test("what goes in is text, what comes out is not", () => {
  expectTypeOf<z.output<typeof Flag>>().toEqualTypeOf<boolean>();
  expectTypeOf<z.inferInput<typeof Flag>>().toEqualTypeOf<string>();
  expect(Flag.parse("yes")).toBe(true);
});
