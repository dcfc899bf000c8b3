// kind: member; line: 5; name: parseJSON; how: destructuring of an absent export
import { expect, test } from "vitest";
import * as z from "zod/v4";

const { json, parseJSON, object } = z;

test("any JSON will do", () => {
  expect(json().parse({ a: [1, null] })).toEqual({ a: [1, null] });
  expect(object({}).parse({})).toEqual({});
});
