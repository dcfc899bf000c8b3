// kind: member; line: 12; name: kebabCase; how: declared by module augmentation, defined nowhere
import { expect, test } from "vitest";
import * as z from "zod/v4";

declare module "zod/v4" {
  interface ZodType {
    kebabCase(): this;
  }
}

test("words get dashes between them", () => {
  const schema = z.string().trim().kebabCase();
  expect(schema.parse("two words")).toBe("two-words");
});
