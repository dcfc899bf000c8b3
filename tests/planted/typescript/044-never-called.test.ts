// kind: member; line: 6; name: describeSchema; how: in a function that is never called
import { expect, test } from "vitest";
import * as z from "zod/v4";

export function dump(schema: z.ZodType): string {
  return z.describeSchema(schema, 2);
}

test("a description stays with the schema", () => {
  expect(z.string().describe("a name").description).toBe("a name");
});
