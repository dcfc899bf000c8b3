// kind: parameter; line: 6; name: required_error; how: zod 3 option
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("a missing name has a message of its own", () => {
  const schema = z.object({ name: z.string({ required_error: "Name is required" }) });
  const { error } = schema.safeParse({});
  expect(error!.issues[0].message).toBe("Name is required");
});
