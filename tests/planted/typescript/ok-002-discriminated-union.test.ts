// kind: none; line: 0; name: -; how: discriminated unions of data and of issues
import { expect, test } from "vitest";
import * as z from "zod/v4";

const Shape = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("circle"), radius: z.number() }),
  z.object({ kind: z.literal("square"), side: z.number() }),
]);

function area(shape: z.infer<typeof Shape>): number {
  switch (shape.kind) {
    case "circle":
      return 3 * shape.radius ** 2;
    case "square":
      return shape.side ** 2;
  }
}

test("areas", () => {
  expect(area(Shape.parse({ kind: "circle", radius: 2 }))).toBe(12);
  expect(area(Shape.parse({ kind: "square", side: 3 }))).toBe(9);
});

test("codes of issues", () => {
  const { error } = z.strictObject({ n: z.number().multipleOf(5) }).safeParse({ n: 7, x: 1 });
  for (const issue of error!.issues) {
    switch (issue.code) {
      case "not_multiple_of":
        expect(issue.divisor).toBe(5);
        break;
      case "unrecognized_keys":
        expect(issue.keys).toEqual(["x"]);
        break;
      default:
        expect.unreachable(issue.code);
    }
  }
});
