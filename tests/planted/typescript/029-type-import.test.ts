// kind: member; line: 4; name: SchemaOutput; how: import type of an absent type
import { expect, test } from "vitest";
import * as z from "zod/v4";
import type { SchemaOutput } from "zod/v4";

const Point = z.object({ x: z.number(), y: z.number() });

test("a point parses to itself", () => {
  const point: SchemaOutput<typeof Point> = Point.parse({ x: 1, y: 2 });
  expect(point).toEqual({ x: 1, y: 2 });
});
