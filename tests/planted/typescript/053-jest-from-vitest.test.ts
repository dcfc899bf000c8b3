// kind: member; line: 2; name: jest; how: named import of another framework's name
import { expect, jest, test } from "vitest";
import * as z from "zod/v4";

test("a default is made once for each parse", () => {
  const make = jest.fn(() => 3);
  const schema = z.number().default(make);
  schema.parse(undefined);
  expect(make).toHaveBeenCalledTimes(1);
});
