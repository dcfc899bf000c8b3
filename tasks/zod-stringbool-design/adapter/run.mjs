// Bundles the adapter with the code that it plays on, and runs it.
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const outfile = join(tmpdir(), "testwright_design.mjs");
await build({
  entryPoints: ["testwright_design/main.ts"],
  bundle: true,
  platform: "node",
  format: "esm",
  conditions: ["@zod/source"],
  outfile,
  logLevel: "error",
});
await import(pathToFileURL(outfile).href);
