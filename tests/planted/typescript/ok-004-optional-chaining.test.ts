// kind: none; line: 0; name: -; how: optional chaining on real optional properties
import { expect, test } from "vitest";
import * as z from "zod/v4";

const Tree = z.object({
  label: z.string("no label"),
  children: z.array(z.object({ label: z.string("no label below") })).optional(),
});

test("children may be left out", () => {
  expect(Tree.parse({ label: "a" }).children?.length).toBeUndefined();
  expect(Tree.parse({ label: "a", children: [{ label: "b" }] }).children?.[0]?.label).toBe("b");
});

test("the tree of errors", () => {
  const { error } = Tree.safeParse({ children: [{}] });
  const tree = z.treeifyError(error!);
  expect(tree.properties?.label?.errors).toEqual(["no label"]);
  expect(tree.properties?.children?.items?.[0]?.properties?.label?.errors).toEqual(["no label below"]);
  expect(error?.issues.at(0)?.path).toEqual(["label"]);
  expect(z.string().meta()?.title).toBeUndefined();
  expect(z.config().customError?.({} as any)).toBeUndefined();
});
