// kind: module; line: 4; name: zod/v4/errors; how: absent deep path in a static import
import { expect, test } from "vitest";
import * as z from "zod/v4";
import { flattenError } from "zod/v4/errors";

const Login = z.object({ user: z.string("user must be text"), pin: z.number("pin must be a number") });

test("a flattened error has a list for each field", () => {
  const result = Login.safeParse({ user: 1, pin: "2" });
  expect(result.success).toBe(false);
  expect(flattenError(result.error!)).toEqual({
    formErrors: [],
    fieldErrors: { user: ["user must be text"], pin: ["pin must be a number"] },
  });
});
