// kind: module; line: 4; name: zod-fixtures; how: absent package
import { expect, test } from "vitest";
import * as z from "zod/v4";
import { generateFixture } from "zod-fixtures";

const Person = z.object({ name: z.string().min(1), age: z.int().nonnegative() });

test.each([1, 2, 3])("fixture %i passes its own schema", (seed) => {
  const person = generateFixture(Person, { seed });
  expect(Person.safeParse(person).success).toBe(true);
});
