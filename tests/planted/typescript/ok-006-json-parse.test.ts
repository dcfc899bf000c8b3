// kind: none; line: 0; name: -; how: JSON.parse results and other values of type any
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("a message is JSON", () => {
  const error = z.object({ a: z.string() }).safeParse({}).error!;
  const issues = JSON.parse(error.message);
  expect(issues[0].code).toBe("invalid_type");
  expect(issues[0].path[0]).toBe("a");
});

test("data of a server", () => {
  const reply = JSON.parse('{"user":{"profile":{"nick":"ada"}},"total":1}');
  const Reply = z.looseObject({ user: z.object({ profile: z.object({ nick: z.string() }) }) });
  expect(Reply.parse(reply).user.profile.nick).toBe(reply.user.profile.nick);
  expect(Reply.parse(reply).total).toBe(reply.total);
});

test("JSON Schema goes round", () => {
  const json: any = z.toJSONSchema(z.object({ n: z.int().min(3) }));
  expect(json.properties.n.minimum).toBe(3);
  expect(JSON.parse(JSON.stringify(json)).required).toEqual(["n"]);
});
