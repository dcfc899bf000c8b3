// kind: none; line: 0; name: -; how: own classes, own matchers, module augmentation that is defined
import { expect, test } from "vitest";
import { ZodType } from "zod/v4";
import * as z from "zod/v4";

declare module "zod/v4" {
  interface ZodType {
    accepts(value: unknown): boolean;
  }
}
ZodType.prototype.accepts = function (this: z.ZodType, value: unknown) {
  return this.safeParse(value).success;
};

interface OwnMatchers<R = unknown> {
  toRefuse(value: unknown): R;
}
declare module "vitest" {
  interface Assertion<T = any> extends OwnMatchers<T> {}
}
expect.extend({
  toRefuse: (schema: z.ZodType, value: unknown) => ({
    pass: !schema.safeParse(value).success,
    message: () => "the schema took it",
  }),
});

class Money {
  constructor(readonly cents: number) {}
  get inWhole() {
    return Math.round(this.cents / 100);
  }
  static parseText(text: string) {
    return new Money(Number(text) * 100);
  }
}

test("own methods of schemas", () => {
  expect(z.string().accepts("a")).toBe(true);
  expect(z.string()).toRefuse(1);
});

test("own classes", () => {
  const schema = z.string().transform((text) => Money.parseText(text));
  expect(schema.parse("3").inWhole).toBe(3);
  expect(z.instanceof(Money).parse(new Money(5)).cents).toBe(5);
});
