// kind: module; line: 10; name: zod/v4/testing; how: createRequire in try/catch, fallback used
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import * as z from "zod/v4";

const require = createRequire(import.meta.url);

function loadSample(): (schema: z.ZodType) => unknown {
  try {
    return require("zod/v4/testing").sample;
  } catch {
    return () => "sample";
  }
}

test("a sample of a string is a string", () => {
  expect(z.string().parse(loadSample()(z.string()))).toEqual(expect.any(String));
});
