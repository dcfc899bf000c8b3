// kind: parameter; line: 9; name: additionalProperties; how: absent option of toJSONSchema
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("a JSON Schema that leaves room", () => {
  const schema = z.object({ a: z.string() });
  const json = z.toJSONSchema(schema, {
    target: "draft-07",
    additionalProperties: true,
  });
  expect(json.type).toBe("object");
});
