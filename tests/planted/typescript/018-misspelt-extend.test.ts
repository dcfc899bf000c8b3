// kind: member; line: 8; name: safeExtended; how: misspelt method
import { expect, test } from "vitest";
import * as z from "zod/v4";

const Base = z.object({ id: z.string() });

test("extending keeps what was there", () => {
  const Full = Base.safeExtended({ size: z.number() });
  expect(Full.parse({ id: "a", size: 1 })).toEqual({ id: "a", size: 1 });
});
