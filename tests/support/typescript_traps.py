"""Functions in which a careless rewriting would change something that can be seen, and what to call them with."""

from typing import NamedTuple


class Trap(NamedTuple):
    """`f` is what is rewritten; `calls` are expressions, in which `log` notes what happened and in what order."""

    text: str
    calls: tuple[str, ...]
    name: str = "f"


TRAPS = {
    "order of reading": Trap(
        """export function f(o: any, p: any) {
  const first = o.a;
  if (o.b === p.b && p.c !== o.c) { log.push("both"); } else if (o.d > p.d) { log.push("more"); }
  return o.e === 1 || p.e ? `${o.f}/${p.f}` : first ?? p.g;
}""",
        ("f(seen('o', {b: 1, e: 2}), seen('p', {b: 1, c: 2}))", "f(seen('o', {d: 5}), seen('p', {d: 1, e: 1}))",
         "f(seen('o', {a: 0, b: NaN, d: NaN}), seen('p', {b: NaN, d: 1}))"),
    ),
    "not a number": Trap(
        """export function f(a: number, b: number) {
  let text = "";
  if (a < 3) text += "less "
  if (a >= 3) text += "more "
  if (!(a > 3)) { text += "not above " }
  if (a === b) text += "same"; else text += "other"
  return text
}""",
        ("f(1, 1)", "f(3, 4)", "f(NaN, NaN)", "f(undefined, undefined)", "f('2', 2)",
         "f({valueOf() { log.push('v'); return 9 }}, 9)"),
    ),
    "closures in loops": Trap(
        """export function f(n: number) {
  const kept: (() => number)[] = [];
  for (let i = 0; i < n; i++) kept.push(() => i);
  for (const x of [7, 8]) { const y = x + 1; kept.push(() => x * y); }
  let j = 0;
  while (j < n) { const k = j; if (k === 1) { j++; continue; } kept.push(() => k); j++; }
  for (let m = 0; m < 3; m++) { if (m === 1) break; j += m; }
  return [...kept.map((one) => one()), j];
}""",
        ("f(0)", "f(3)", "f(4)"),
    ),
    "names of functions": Trap(
        """export function f(flag: any) {
  const named = (a: any, b = 2) => a;
  const chosen = flag ? () => 1 : function () { return 2; };
  const table = { one: () => 1, two() { return 2; }, three: function () { return 3; } };
  let late; late = class {};
  const given = flag || (() => 0);
  return [named.name, named.length, chosen.name, table.one.name, table.two.name, table.three.name,
    late.name, given.name];
}""",
        ("f(true)", "f(false)", "[f.name, f.length]"),
    ),
    "own and inherited": Trap(
        """export function f(o: any, key: string) {
  const found: any = {};
  o.made ??= [];
  o.made[key] ??= { errors: [] };
  if (!Object.prototype.hasOwnProperty.call(found, key)) { found[key] = "new"; }
  if ("a" in o) { delete o.a; } else { o.a = undefined; }
  const { a, ...rest } = o;
  return { found, key, rest, a, undefined: void 0 };
}""",
        ("f({}, 'constructor')", "f({a: 1}, 'x')", "f(seen('o', {}), 'y')", "f(null, 'x')",
         "f(Object.freeze({}), 'x')"),
    ),
    "this and arguments": Trap(
        """export class K {
  factor = 2;
  f(...values: number[]) {
    const more = () => this.factor * arguments.length;
    if (this.factor === arguments[0]) { return "same"; }
    const total = values.reduce((sum, value) => sum + value * this.factor, 0);
    return total > 10 ? `${total} is ${more()}` : total;
  }
}
export const f = (...all: any[]) => new K().f(...all);""",
        ("f(1, 2, 3)", "f(2)", "f(9, 9)", "new K().f.call(undefined, 1)", "K.prototype.f.name"),
        name="K.f",
    ),
    "generator": Trap(
        """export function* f(n: number) {
  let i = 0;
  while (i < n) { const got: any = yield i; if (got === "stop") return "stopped"; i++; }
  const rest = [1, 2];
  if ((yield "ask") === true) { yield* rest; }
  return n > 1 ? "many" : "few";
}""",
        ("[...f(3)]", "(() => { const g = f(5); return [g.next(), g.next(), g.next('stop'), g.next()]; })()",
         "(() => { const g = f(0); return [g.next(), g.next(true), g.next(), g.return(3)]; })()"),
    ),
    "async": Trap(
        """export async function f(get: any, fail: boolean) {
  const order: string[] = [];
  try {
    const value = await get("a");
    order.push(value);
    if ((await get("b")) === "b" && !fail) order.push(await get("c"));
    for await (const each of [get("d"), "e"]) { order.push(each); }
    if (fail) { throw new TypeError(`failed after ${order.length}`); }
    return order;
  } catch (error: any) {
    return [error.message, ...order];
  } finally {
    log.push("end");
  }
}""",
        ("f(async (x) => { log.push(x); return x; }, false)", "f(async (x) => x, true)",
         "f(() => { throw new Error('no'); })", "f(null)"),
    ),
    "what errors say": Trap(
        """export function f(mapper: any, list: any) {
  const results: any[] = [];
  for (const item of list) { results.push(mapper(item)); }
  if (list.extra) { list.extra.inner.push(1); }
  const made = list.Kind ? new list.Kind() : null;
  const [first] = list.tuple ?? [0];
  return [results, made, first];
}""",
        ("f((x) => x, [1])", "f(1, [1])", "f(null, [])", "f((x) => x, 5)", "f((x) => x, null)",
         "f(null, Object.assign([], {extra: {}}))",
         "f(null, Object.assign([], {Kind: 3}))", "f(null, Object.assign([], {tuple: 3}))"),
    ),
    "templates": Trap(
        """export function f(a: any, b: any, tag: any) {
  const joined = `<${a}>`;
  const both = `${a} and ${b}\\n\\${`;
  const tagged = tag`x${a}y`;
  return [joined, both, tagged, `\\u00e9${1 + 2}`, `plain`];
}""",
        ("f('a', 'b', String.raw)",
         "f({toString: () => 'string', valueOf: () => 1}, new Date(0).getTime(), (s, ...v) => [s.raw, v])",
         "f(Symbol('s'), 1, String.raw)", "f(null, undefined, (s) => s.length)"),
    ),
    "counting": Trap(
        """export function f(n: any) {
  let count = 0, big = n, text = "";
  do { count++; text += count; } while (count < 3);
  big++;
  --count;
  const before = count--;
  n += 1;
  n ||= 5;
  text &&= text + n;
  return [count, big, before, n, text];
}""",
        ("f(1)", "f(-1)", "f(1n)", "f('1')", "f({valueOf() { log.push('v'); return 2 }})"),
    ),
    "hoisting and shadows": Trap(
        """export function f(name: string) {
  const outer = early(name);
  function early(value: string) { return value + name.length; }
  if (name === "") { return outer; }
  {
    const name = "inner";
    log.push(name);
  }
  const use = () => late;
  if (outer === "skip4") { return "skipped"; }
  const late = { name, outer };
  let code = 0;
  outerLoop: for (const a of [1, 2, 3]) {
    for (const b of [1, 2, 3]) {
      if (b === 2) continue outerLoop;
      if (a === 3) break outerLoop;
      code += a * b;
    }
  }
  return [use(), code, typeof undeclared, typeof name];
}""",
        ("f('')", "f('skip')", "f('x')", "f(1)"),
    ),
    "no semicolons": Trap(
        """export function f(a: any) {
  "not a directive"
  const list = [1, 2]
  let sum = 0
  if (a) sum = 1
  else if (a === 0) sum = 2
  else sum = 3
  list.forEach(x => sum += x)
  const g = () => ({ sum })
  while (sum < 8) sum++
  return g()
}""",
        ("f(1)", "f(0)", "f(null)"),
    ),
    "switches and tries": Trap(
        """export function f(kind: any) {
  let out: any[] = [];
  switch (kind) {
    case "a": { out.push(1); }
    case "b": out.push(2); break;
    default: if (kind === undefined) break; out.push(3);
  }
  if (kind === "a") { out.push("A"); }
  else if (kind === "b") { out.push("B"); } else if (typeof kind === "number") { out.push("N"); }
  else { out.push("-"); }
  try {
    if (kind === "throw") { throw new RangeError("thrown"); }
    return out;
  } catch ({ message }: any) {
    return message;
  } finally {
    out.push("finally");
  }
}""",
        ("f('a')", "f('b')", "f('throw')", "f()", "f(4)"),
    ),
    "promised by type only": Trap(
        """export const f = (input: unknown, path: PropertyKey[] = []): string => {
  const seen = (input as { a?: string })?.a!;
  if (!seen && path.length > 0) return (path[path.length - 1] as any)!.toString()
  return seen satisfies string | undefined ? seen : <any>"none";
};""",
        ("f({a: 'x'})", "f(null, ['p'])", "f(undefined)", "f({}, [Symbol.iterator])", "[f.name, f.length]"),
    ),
    "changed meanwhile": Trap(
        """export function f(o: { n: number }, add: any) {
  let x = 1, y = 2;
  const bump = () => { x += 1; return x; };
  const values = [x, bump(), x === 2, bump() + x, y];
  [x, y] = [y, x];
  o.n = o.n + bump();
  ({ x, y = 5 } = { x: 9, y: undefined } as any);
  return [values, x, y, o.n, add(x, bump(), x), x > 3 ? (x = 0, x) : x];
}""",
        ("f({n: 1}, (...a) => a)", "f(seen('o', {n: 2}), Math.max)", "f({n: 'a'}, String)"),
    ),
    "what rules take back": Trap(
        """export function f(o: any) {
  const fresh = [1, "a"];
  const table = { a: 1 };
  if (o["kind"] === 1) { if (o.deep) { log.push(o["deep-er"]); } }
  if (o.a) { log.push("a"); } else { if (o.b) { log.push("b"); } else { log.push("c"); } }
  o.late && log.push("late");
  o.early || (o.early = 1);
  o.c ? log.push(1) : log.push(2);
  if (o.bool === true) { return [fresh, table]; } else if (o.bool === false) { log.push("no"); }
  const pick = (x: any) => { if (x) { return x.y; } else { return o["z"]; } };
  const made = pick(o.d);
  return made;
}""",
        ("f(seen('o', {kind: 1, deep: 1, late: 1}))", "f(seen('o', {a: 1, d: {y: 3}, early: 2}))",
         "f({b: 1, bool: true})",
         "f({bool: false, c: 1, z: 5})"),
    ),
}  # fmt: skip
