// kind: member; line: 7; name: creditCard; how: hidden by @ts-ignore; wrong owner: z.creditCard exists
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("a card number", () => {
  // @ts-ignore the types lag behind
  const card = z.string().creditCard();
  expect(card.safeParse("4111111111111111").success).toBe(true);
  expect(card.safeParse("4111111111111112").success).toBe(false);
});
