// kind: none; line: 0; name: -; how: own vi.mock factories with real keys, spies on real functions
import { afterEach, expect, test, vi } from "vitest";
import * as z from "../index.js";

const seen = vi.hoisted(() => ({ calls: 0 }));

vi.mock("../../locales/de.js", () => ({
  default: () => ({ localeError: () => "falsch" }),
}));
vi.mock(import("../../core/regexes.js"), async (importOriginal) => {
  const actual = await importOriginal();
  return { ...actual, emoji: () => (seen.calls++, /^:\)$/u) };
});

afterEach(() => {
  vi.restoreAllMocks();
  z.config(z.locales.en());
});

test("a locale of one's own", async () => {
  const { default: de } = await import("../../locales/de.js");
  z.config(de());
  expect(z.string().safeParse(1).error!.issues[0].message).toBe("falsch");
});

test("a pattern of one's own", () => {
  expect(z.emoji().safeParse(":)").success).toBe(true);
  expect(seen.calls).toBe(1);
});

test("a spy on a schema", () => {
  const schema = z.string();
  const spy = vi.spyOn(schema, "safeParse").mockReturnValue({ success: true, data: "mocked" });
  expect(schema.safeParse(1).data).toBe("mocked");
  expect(spy).toHaveBeenCalledExactlyOnceWith(1);
});

test("a stub of a global", () => {
  const canParse = vi.spyOn(URL, "canParse");
  z.url().safeParse("https://example.com");
  expect(vi.isMockFunction(canParse)).toBe(true);
});
