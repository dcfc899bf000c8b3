// kind: member; line: 11; name: hexColor; how: own interface and cast through unknown
import { expect, test } from "vitest";
import * as z from "zod/v4";

interface Painter {
  hexColor(params?: { alpha: boolean }): z.ZodString;
}

test("a colour", () => {
  const painter = z as unknown as Painter;
  expect(painter.hexColor({ alpha: false }).safeParse("#ff00ff").success).toBe(true);
  expect(z.hex().safeParse("ff00ff").success).toBe(true);
});
