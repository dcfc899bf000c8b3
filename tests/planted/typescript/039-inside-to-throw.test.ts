// kind: member; line: 12; name: parseStrict; how: swallowed in expect(() => ...).toThrow()
import { expect, test } from "vitest";
import * as z from "zod/v4";

const Item = z.object({ id: z.number() });

test("unknown keys are left out", () => {
  expect(Item.parse({ id: 1, extra: true })).toEqual({ id: 1 });
});

test("unknown keys are refused when strict", () => {
  expect(() => Item.parseStrict({ id: 1, extra: true })).toThrow();
});
