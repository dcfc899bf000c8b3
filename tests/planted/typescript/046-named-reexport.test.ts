// kind: member; line: 5; name: ZodSemver; how: re-export of an absent name
import { expect, test } from "vitest";
import * as z from "zod/v4";

export { ZodEmail, ZodSemver } from "zod/v4";

test("the class of an e-mail schema", () => {
  expect(z.email()).toBeInstanceOf(z.ZodEmail);
});
