// node -e THIS REQUEST OUTPUT: the TypeScript of each text of a request made JavaScript, types and comments gone.
// A request is {variant: {path: text}}; the output has the same form.
const { readFileSync, writeFileSync } = require("node:fs");
const { transformSync } = require("/node_modules/esbuild");

const [request, output] = process.argv.slice(1);
const compiled = {};
for (const [variant, texts] of Object.entries(JSON.parse(readFileSync(request, "utf8")))) {
  compiled[variant] = {};
  for (const [path, text] of Object.entries(texts)) {
    try {
      const options = { loader: "ts", target: "esnext", tsconfigRaw: "{}", logLevel: "silent", charset: "utf8" };
      compiled[variant][path] = transformSync(text, options).code;
    } catch (error) {
      console.error(`${variant}: ${path}: ${error.errors?.[0]?.text ?? error}`);
      process.exit(1);
    }
  }
}
writeFileSync(output, JSON.stringify(compiled));
