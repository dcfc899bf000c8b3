// kind: none; line: 0; name: -; how: dynamic imports of real modules
import { afterEach, expect, test, vi } from "vitest";
import en from "../../locales/en.js";
import * as z from "zod/v4";

afterEach(() => {
  z.config(en());
});

test("a locale that is loaded late", async () => {
  const { default: german } = await import("../../locales/de.js");
  z.config(german());
  expect(z.string().safeParse(1).error!.issues[0].message).toContain("Ungültig");
});

test("core by its own path", async () => {
  const core = await import("zod/v4/core");
  expect(z.string()).toBeInstanceOf(core.$ZodString);
  expect(core.version.major).toBe(4);
});

test("mini and version 3", async () => {
  const mini = await import("zod/v4/mini");
  const { z: three } = await import("zod/v3");
  expect(mini.string().check(mini.minLength(2)).safeParse("a").success).toBe(false);
  expect(three.string().ip().safeParse("127.0.0.1").success).toBe(true);
  expect(three.ostring().parse(undefined)).toBeUndefined();
});

test("the original of a module", async () => {
  const actual = await vi.importActual<typeof import("../../core/util.js")>("../../core/util.js");
  expect(actual.esc("a")).toBe('"a"');
});
