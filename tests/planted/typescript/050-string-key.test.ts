// kind: member; line: 7; name: nonNullable; how: string key through Reflect.get
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("null can be ruled out again", () => {
  const schema = z.string().nullable();
  const rule = Reflect.get(schema, "nonNullable");
  const strict = typeof rule === "function" ? rule.call(schema) : schema.unwrap();
  expect(strict.safeParse(null).success).toBe(false);
});
