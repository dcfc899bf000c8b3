// kind: parameter; line: 6; name: trim; how: an argument too many: trim() takes none
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("spaces at the ends go away", () => {
  const schema = z.string().trim("both").min(1);
  expect(schema.parse(" a ")).toBe("a");
  expect(schema.safeParse("   ").success).toBe(false);
});
