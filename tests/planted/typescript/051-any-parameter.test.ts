// kind: member; line: 6; name: compileSync; how: on a parameter of type any
import { expect, test } from "vitest";
import * as z from "zod/v4";

const run = (schema: any, data: unknown) => {
  const fast = schema.compileSync();
  return fast(data);
};

test("compiled and plain agree", () => {
  expect(run(z.array(z.number()), [1, 2])).toEqual([1, 2]);
});
