// kind: module; line: 3; name: ../issues.js; how: absent relative module
import { expect, test } from "vitest";
import { makeIssue } from "../issues.js";
import { ZodError } from "../errors.js";

test("an error made by hand keeps its issues", () => {
  const issue = makeIssue({ code: "custom", path: ["a"], message: "Bad a" });
  const error = new ZodError([issue]);
  expect(error.issues).toHaveLength(1);
  expect(error.issues[0].message).toBe("Bad a");
});
