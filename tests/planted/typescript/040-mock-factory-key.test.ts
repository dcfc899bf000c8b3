// kind: member; line: 7; name: parseDuration; how: absent key in a vi.mock factory
import { expect, test, vi } from "vitest";
import * as z from "../index.js";

vi.mock("../../core/util.js", async (importOriginal) => ({
  ...(await importOriginal<typeof import("../../core/util.js")>()),
  parseDuration: vi.fn(() => 0),
}));

test("a duration in text", () => {
  expect(z.iso.duration().safeParse("P1D").success).toBe(true);
  expect(z.iso.duration().safeParse("1 day").success).toBe(false);
});
