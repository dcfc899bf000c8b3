// kind: parameter; line: 8; name: errorMap; how: zod 3 option of parse, options in a variable
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("a map for one parse", () => {
  const options = {
    reportInput: true,
    errorMap: () => ({ message: "mapped" }),
  };
  const { error } = z.string().safeParse(1, options);
  expect(error!.issues[0].input).toBe(1);
});
