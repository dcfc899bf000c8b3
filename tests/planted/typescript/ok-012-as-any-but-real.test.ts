// kind: none; line: 0; name: -; how: as any on values whose property is really there
import { expect, test } from "vitest";
import * as z from "zod/v4";

const schema = z.object({ name: z.string().min(2).max(5) }).describe("a person");

test("definitions through any", () => {
  expect((schema as any)._zod.def.type).toBe("object");
  expect((schema as any).shape.name.minLength).toBe(2);
  expect((schema as any)["~standard"].vendor).toBe("zod");
  expect((schema as any).description).toBe("a person");
  // @ts-ignore internal, but there
  expect(schema._zod.bag).toBeTypeOf("object");
});

test("names by a variable", () => {
  const api = z as unknown as Record<string, (...args: any[]) => z.ZodType>;
  for (const name of ["string", "number", "boolean"]) {
    expect((api[name]() as any).def.type).toBe(name);
  }
  const { string: text, default: withDefault } = z as any;
  expect(text().optional().unwrap().def.type).toBe("string");
  expect(withDefault).toBeDefined();
});

test("methods that prototypes give", () => {
  const { min, safeExtend } = Object.getPrototypeOf(z.object({})) as any;
  expect(min).toBeUndefined();
  expect(safeExtend).toBeTypeOf("function");
  expect(Reflect.has(schema, "exactPartial")).toBe(true);
  const e: any = schema.safeParse({}).error;
  expect(e.isEmpty).toBe(false);
  expect(e.format().name._errors).toHaveLength(1);
});
