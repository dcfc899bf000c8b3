// Lies beside fuzz files while they run: draws by the check's seed, and writes down what the code answers.
import { appendFileSync } from "node:fs";
import { inspect, type InspectOptions } from "node:util";

type Call = (input: string, answer: () => string, thrown?: (error: string) => string) => void;

/** Whole numbers below a limit, one of some values, and several of what a function makes. */
export function drawing() {
  let state = Number(process.env.TESTWRIGHT_FUZZ_SEED ?? "1") >>> 0;
  const draw = (limit: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
  const one = <T>(of: readonly T[]): T => of[draw(of.length)]!;
  const several = <T>(least: number, most: number, make: () => T): T[] =>
    Array.from({ length: least + draw(most - least + 1) }, make);
  return { draw, one, several };
}

/** A value in one line. */
export const shown = (value: unknown, options: InspectOptions = {}): string =>
  JSON.stringify(inspect(value, { depth: 9, breakLength: Infinity, ...options }));

/** Makes each call twice, and writes them as `INPUT => ANSWER` when all are made. What is thrown is an answer. */
export function written(calls: (call: Call) => void): void {
  const lines: string[] = [];
  calls((input, answer, thrown = JSON.stringify) => {
    for (const _ of ["first", "second"]) lines.push(`${input} => ${result(answer, thrown)}\n`);
  });
  const folder = process.env.TESTWRIGHT_REPORT_DIR;
  if (folder) appendFileSync(`${folder}/fuzz.txt`, lines.join(""));
}

function result(answer: () => string, thrown: (error: string) => string): string {
  try {
    return answer();
  } catch (error: any) {
    return thrown(`${error?.name}: ${error?.message}`);
  }
}
