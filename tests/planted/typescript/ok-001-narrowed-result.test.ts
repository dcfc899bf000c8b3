// kind: none; line: 0; name: -; how: narrowing of safeParse results
import { describe, expect, test } from "vitest";
import * as z from "zod/v4";

const User = z.object({ name: z.string().min(2), age: z.int().optional() });

describe("narrowing of a result", () => {
  test("data after success", () => {
    const result = User.safeParse({ name: "Ada" });
    if (!result.success) throw result.error;
    expect(result.data.name).toBe("Ada");
    expect(result.data.age).toBeUndefined();
  });

  test("issues after failure", () => {
    const result = User.safeParse({ name: "A" });
    expect(result.success).toBe(false);
    if (result.success) return;
    const [issue] = result.error.issues;
    if (issue.code === "too_small") {
      expect(issue.minimum).toBe(2);
      expect(issue.origin).toBe("string");
      expect(issue.inclusive).toBe(true);
    } else {
      expect.fail("another code");
    }
  });

  test("destructured", () => {
    const { success, data, error } = User.safeParse(null);
    expect(success).toBe(false);
    expect(data).toBeUndefined();
    expect(error!.flatten().formErrors).toHaveLength(1);
  });
});
