// kind: member; line: 10; name: children; how: absent property of an error tree, optional chaining
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("the tree follows the data", () => {
  const schema = z.object({ tags: z.array(z.string("not text")) });
  const { error } = schema.safeParse({ tags: ["a", 2] });
  const tree = z.treeifyError(error!);
  expect(tree.properties?.tags?.items?.[1].errors).toEqual(["not text"]);
  expect(tree.properties?.tags?.children?.length ?? 2).toBe(2);
});
