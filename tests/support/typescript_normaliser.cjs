// An attack: the normal form of TypeScript, by somebody who knows the catalogue. node -e THIS REQUEST OUTPUT, where a
// request is {key: text}. Marks of rules are folded away, then esbuild's minifier works on, until nothing changes.
const { readFileSync, writeFileSync } = require("node:fs");
const { transformSync } = require("/node_modules/esbuild");

const KINDS = ["string", "number", "boolean", "symbol", "undefined", "object", "function", "bigint"];
const PRINTED = { loader: "ts", target: "esnext", tsconfigRaw: "{}", logLevel: "silent", charset: "utf8" };
const SMALL = { ...PRINTED, minifySyntax: true };

/** What a rule leaves behind that no author writes, and what it stood for. */
function folded(text) {
  const fold = (sign, kind, whole) => (KINDS.includes(kind) ? whole : sign === "===" || sign === "==" ? "false" : "true");
  return text
    .replace(/typeof [\w$]+ (===?|!==?) "(\w+)"/g, (whole, sign, kind) => fold(sign, kind, whole))
    .replace(/"(\w+)" (===?|!==?) typeof [\w$]+/g, (whole, kind, sign) => fold(sign, kind, whole))
    .replace(/"(\w*)"(?:\.length|\["length"\])/g, (_, word) => String(word.length))
    .replace(/(?<=[\w$)\]`"])\["([A-Za-z_$][\w$]*)"\]/g, ".$1");
}

/** The variable that hides conditions, by the number that it always is. */
function revealed(text) {
  const [, name, value] = text.match(/\{\s*let ([\w$]+) = (\d{2,});/) ?? [];
  if (!name) return text;
  const used = new RegExp(`(?<![\\w$.])${name.replaceAll("$", "\\$")}(?![\\w$])`, "g");
  return text.replaceAll(used, value).replace(/let \d+ = \d+[;,]/, "");
}

/** Conditions on numbers alone, worked out. */
function evaluated(text) {
  const test = /\((\(?\d+(?: (?:[-+%&^]|>>) \d+\)?)? (?:[=!]=|[<>]=?) \d+)\)/g;
  return text.replace(test, (_, numbers) => `(${Function(`return ${numbers}`)()})`);
}

/** Smaller code; nothing where a step has torn the text apart. */
function attempted(text) {
  try {
    return transformSync(text, SMALL).code;
  } catch {
    return undefined;
  }
}

function normal(text) {
  let before, now = transformSync(text, PRINTED).code;
  for (let round = 0; round < 8 && now !== before; round++) {
    before = now;
    for (const step of [folded, revealed, evaluated]) now = attempted(step(now)) ?? now;
  }
  return transformSync(now, { ...SMALL, minifyIdentifiers: true, minifyWhitespace: true }).code;
}

const [request, output] = process.argv.slice(1);
const forms = {};
for (const [key, text] of Object.entries(JSON.parse(readFileSync(request, "utf8")))) forms[key] = normal(text);
writeFileSync(output, JSON.stringify(forms));
