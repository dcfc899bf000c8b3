// kind: member; line: 6; name: resetConfig; how: optional call of an absent export
import { afterEach, expect, test } from "vitest";
import * as z from "zod/v4";

afterEach(() => {
  (z as Record<string, any>).resetConfig?.();
});

test("a message of one's own", () => {
  const { error } = z.string({ error: () => "no text" }).safeParse(1);
  expect(error!.issues[0].message).toBe("no text");
});
