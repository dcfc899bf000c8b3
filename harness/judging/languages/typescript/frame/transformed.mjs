// Sources as vite transforms them, kept when the image is made: most of them are the same in every run.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { SOURCES } from "./settings.mjs";

const KEPT = "/var/cache/run_tests/transformed";
// What only tests read, and theirs is no code under test; declarations have nothing to transform.
const NOT_KEPT = /(^|\/)(__)?tests?(__)?(\/|$)|\.(test|spec)\.[cm]?[jt]sx?$|\.d\.[cm]?ts$/;

/** Absolute path of a source -> hash of all that goes into its transformation: what there is to import counts. */
function keys(root, compiled) {
  const entries = readdirSync(path.join(root, SOURCES), { recursive: true, withFileTypes: true })
    .map((entry) => ({ file: path.join(entry.parentPath, entry.name), isFile: entry.isFile() }))
    .filter(({ file }) => !NOT_KEPT.test(path.relative(root, file)));
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
 * Absolute path -> transformed code of those sources that are as they were. What the others were is never read, and
 * with `take` nothing stays behind: a test could hold what runs against what was, and so notice every change without
 * knowing what is right.
 */
export function readTransformed(root, compiled, take) {
  const atRoot = [SOURCES, "package.json"].every((name) => existsSync(path.join(root, name)));
  const known = new Set(atRoot && existsSync(KEPT) ? readdirSync(KEPT) : []);
  const current = known.size ? [...keys(root, compiled)].filter(([, key]) => known.has(key)) : [];
  const transformed = new Map(current.map(([file, key]) => [file, readFileSync(path.join(KEPT, key), "utf8")]));
  if (take) rmSync(KEPT, { recursive: true, force: true });
  return transformed;
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
  for (const [file, key] of keys(root, new Map())) {
    writeFileSync(path.join(KEPT, key), (await server.fetchModule(file, "ssr")).code);
  }
}
