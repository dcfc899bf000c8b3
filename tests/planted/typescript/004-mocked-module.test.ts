// kind: module; line: 5; name: ../../core/error-formatter.js; how: vi.mock of an absent module with a factory
import { expect, test, vi } from "vitest";
import * as z from "zod/v4";

vi.mock("../../core/error-formatter.js", () => ({ formatMessage: (code: string) => `mocked ${code}` }));

test("a message is there for a wrong type", () => {
  const { error } = z.boolean().safeParse("yes");
  expect(error!.issues[0].message.length).toBeGreaterThan(0);
});

test("the code is there too", () => {
  const { error } = z.boolean().safeParse("yes");
  expect(error!.issues[0].code).toBe("invalid_type");
});
