// Sources as vite transforms them, kept when the image is made: most of them are the same in every run.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

const KEPT = "/var/cache/run_tests/transformed.json";
const BESIDE_TESTS = /(^|\/)tests(\/|$)/;

/** Absolute path of a source -> hash of all that goes into its transformation: what there is to import counts. */
function keys(root, compiled) {
  const entries = readdirSync(path.join(root, "src"), { recursive: true, withFileTypes: true })
    .map((entry) => ({ file: path.join(entry.parentPath, entry.name), isFile: entry.isFile() }))
    .filter(({ file }) => !BESIDE_TESTS.test(path.relative(root, file)));
  const names = entries.map(({ file }) => file).sort();
  const around = JSON.stringify([names, readFileSync(path.join(root, "package.json"), "utf8")]);
  const key = (file) => {
    const text = compiled.get(file) ?? readFileSync(file, "utf8");
    return createHash("sha256").update(JSON.stringify([around, file, text])).digest("hex");
  };
  const sources = entries.filter(({ file, isFile }) => isFile && file.endsWith(".ts"));
  return new Map(sources.map(({ file }) => [file, key(file)]));
}

/**
 * Absolute path -> transformed code of those sources that are as they were. With `take` nothing of the others stays
 * behind: a test could hold what runs against them and so notice every change without knowing what is right.
 */
export function readTransformed(root, compiled, take) {
  let kept;
  try {
    kept = JSON.parse(readFileSync(KEPT, "utf8"));
  } catch {
    return new Map();
  }
  if (take) rmSync(KEPT);
  const current = [...keys(root, compiled)];
  return new Map(current.flatMap(([file, key]) => (Object.hasOwn(kept, key) ? [[file, kept[key]]] : [])));
}

/** Makes vitest's server answer with them. */
export function serveTransformed(server, transformed) {
  const transform = server._transformRequest.bind(server);
  server._transformRequest = async (id, file, mode) => {
    const code = mode === "ssr" && !id.includes("?") ? transformed.get(file) : undefined;
    return code === undefined ? transform(id, file, mode) : { code };
  };
}

/** Transforms and keeps every source. */
export async function keepTransformed(server, root) {
  const kept = {};
  for (const [file, key] of keys(root, new Map())) kept[key] = (await server.fetchModule(file, "ssr")).code;
  writeFileSync(KEPT, JSON.stringify(kept));
}
