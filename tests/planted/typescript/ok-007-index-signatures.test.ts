// kind: none; line: 0; name: -; how: index signatures, records, metadata of one's own
import { expect, test } from "vitest";
import * as z from "zod/v4";

const Prices = z.record(z.string(), z.number());

test("any name is a key", () => {
  const prices = Prices.parse({ apple: 3, pear: 4 });
  expect(prices.apple + prices.pear).toBe(7);
  expect(prices.plum).toBeUndefined();
});

test("messages by field", () => {
  const fields: Record<string, string[] | undefined> = z.flattenError(
    z.object({ "first name": z.string("text, please") }).safeParse({}).error!
  ).fieldErrors;
  expect(fields["first name"]).toEqual(["text, please"]);
  expect(fields.surname).toBeUndefined();
});

test("metadata takes any key", () => {
  const schema = z.string().meta({ title: "Name", placeholder: "Ada", deprecated: false });
  expect(schema.meta()?.placeholder).toBe("Ada");
  expect(z.toJSONSchema(schema).placeholder).toBe("Ada");
});

test("parameters of a custom issue", () => {
  const schema = z.string().refine(() => false, { params: { limit: 3 }, error: "never" });
  const issue = schema.safeParse("a").error!.issues[0];
  if (issue.code === "custom") expect(issue.params?.limit).toBe(3);
});
