// kind: member; line: 10; name: extend; how: wrong owner: method of objects on a union
import { expect, test } from "vitest";
import * as z from "zod/v4";

const Cat = z.object({ kind: z.literal("cat"), lives: z.number() });
const Dog = z.object({ kind: z.literal("dog"), tricks: z.array(z.string()) });
const Pet = z.discriminatedUnion("kind", [Cat, Dog]);

test("every pet gets a name", () => {
  const Named = Pet.extend({ name: z.string() });
  expect(Named.safeParse({ kind: "cat", lives: 9 }).success).toBe(false);
  expect(Named.safeParse({ kind: "cat", lives: 9, name: "Tom" }).success).toBe(true);
});
