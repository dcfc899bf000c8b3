// kind: member; line: 5; name: ZodEffects; how: absent type in an annotation
import { expect, test } from "vitest";
import * as z from "zod/v4";

function upper(schema: z.ZodString): z.ZodEffects<z.ZodString, string> {
  return schema.transform((text) => text.toUpperCase()) as any;
}

test("text is made large", () => {
  expect(upper(z.string()).parse("abc")).toBe("ABC");
});
