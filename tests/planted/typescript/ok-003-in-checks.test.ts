// kind: none; line: 0; name: -; how: "x" in y, typeof and instanceof checks
import { expect, test } from "vitest";
import * as z from "zod/v4";

const Either = z.union([z.object({ url: z.url() }), z.object({ path: z.string() }), z.string()]);

test("which one it was", () => {
  const value = Either.parse({ path: "/tmp" });
  if (typeof value === "string") expect.unreachable();
  else if ("url" in value) expect(value.url).toBe("");
  else expect(value.path).toBe("/tmp");
});

test("a caught error is unknown until it is looked at", () => {
  let caught: unknown;
  try {
    Either.parse(1);
  } catch (error) {
    caught = error;
  }
  expect(typeof caught === "object" && caught !== null && "issues" in caught).toBe(true);
  if (caught instanceof z.ZodError) expect(caught.issues[0].code).toBe("invalid_union");
  if (!("received" in (caught as z.ZodError).issues[0])) expect(caught).toBeInstanceOf(Error);
});
