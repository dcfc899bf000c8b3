// kind: member; line: 7; name: ostring; how: zod 3 export
import { expect, test } from "vitest";
import * as z from "zod/v4";

const Profile = z.object({
  name: z.string(),
  nickname: z.ostring(),
});

test("a nickname may be left out", () => {
  expect(Profile.parse({ name: "Ada" })).toEqual({ name: "Ada" });
});

test("a nickname must be text", () => {
  expect(Profile.safeParse({ name: "Ada", nickname: 1 }).success).toBe(false);
});
