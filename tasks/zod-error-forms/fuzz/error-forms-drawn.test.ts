import { test } from "vitest";
import * as z from "zod/v4";
import { drawing, shown as shownTo, written } from "./testwright-drawing.ts";

const INPUTS = 240;
const NAMES = ["a", "b", "name", "first name", "x.y", "constructor", "toString", "__proto__", "_errors", "errors", "$1", "", "0"];
const WORDS = ["too short", "not text", "no digit", "neither", "odd"];

const { draw, one, several } = drawing();

function step(): PropertyKey {
  const kind = draw(20);
  if (kind === 0) return Symbol(one(WORDS));
  return kind < 6 ? draw(4) : one(NAMES);
}

function issue(depth: number): any {
  const path = several(0, 4, step);
  const message = one(WORDS);
  const inner = () => [...several(0, 2, () => issue(depth - 1)), issue(depth - 1)];
  const kind = draw(depth > 0 ? 8 : 4);
  if (kind === 0) return { code: "invalid_union", errors: [], note: "no matching discriminator", path, message };
  if (kind < 4) return { code: one(["custom", "invalid_type", "too_small"]), path, message };
  if (kind === 4) return { code: "invalid_key", origin: "map", issues: inner(), path, message };
  if (kind === 5) return { code: "invalid_element", origin: "map", key: "k", issues: inner(), path, message };
  return { code: "invalid_union", errors: [inner(), ...several(0, 2, inner)], path, message };
}

/** What a schema itself reports of drawn data. */
function reported(): any[] {
  const leaf = () => one([z.string(), z.number().min(3), z.union([z.boolean(), z.object({ b: z.string() })])]);
  const kind = z.discriminatedUnion("kind", [z.object({ kind: z.literal("a") }), z.object({ kind: z.literal("b") })]);
  const shape = Object.fromEntries([one(NAMES), one(NAMES), "z"].map((name) => [name, one([leaf(), z.array(leaf()), kind])]));
  const value = (): unknown => one<unknown>([1, "x", null, [1, "x", {}], { b: 1 }, { kind: "c" }, [[]]]);
  const data = Object.fromEntries(Object.keys(shape).map((name) => [name, value()]));
  return z.strictObject(shape).safeParse(draw(4) ? data : { ...data, extra: 1 }).error?.issues ?? [];
}

const mapper = (found: any) => ({ [found.code]: found.path.length, of: found.message });
const shown = (value: unknown) => shownTo(value, { depth: 30, maxArrayLength: 99 });

const FORMS: Record<string, (issues: any[]) => unknown> = {
  flattenError: (issues) => z.flattenError({ issues } as any),
  "flattenError, mapped": (issues) => z.flattenError({ issues } as any, mapper),
  treeifyError: (issues) => z.treeifyError({ issues } as any),
  "treeifyError, mapped": (issues) => z.treeifyError({ issues } as any, mapper),
  formatError: (issues) => z.formatError({ issues } as any),
  "formatError, mapped": (issues) => z.formatError({ issues } as any, mapper),
  prettifyError: (issues) => z.prettifyError({ issues } as any),
  toDotPath: (issues) => z.core.toDotPath(issues[0]?.path ?? []),
};

test("answers to drawn inputs", () => {
  const inputs = Array.from({ length: INPUTS }, () => ({
    form: one(Object.keys(FORMS)),
    issues: draw(5) ? several(0, 4, () => issue(2)) : reported(),
  }));
  written((call) => {
    for (const { form, issues } of inputs) call(`${form} of ${shown(issues)}`, () => shown(FORMS[form]!(issues)));
  });
});
