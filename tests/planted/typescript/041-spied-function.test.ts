// kind: member; line: 6; name: logIssue; how: vi.spyOn of an absent function
import { expect, test, vi } from "vitest";
import * as z from "zod/v4";

test("nothing is logged for good data", () => {
  const log = vi.spyOn(z.util, "logIssue");
  z.string().parse("a");
  expect(log).not.toHaveBeenCalled();
  log.mockRestore();
});
