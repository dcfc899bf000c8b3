// node names.cjs: reads $TESTWRIGHT_ADDED (JSON: path below the work tree -> added lines), type-checks these files with the
// toolbox's compiler, and leaves the absent names that it sees in $TESTWRIGHT_NAMES/names.json.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { builtinModules } = require("node:module");
const ts = require("/opt/testwright/node_modules/typescript");

const CODES = new Map([
  [2304, "member"], [2552, "member"], [2305, "member"], [2724, "member"], [2339, "member"], [2551, "member"],
  [2694, "member"], [2614, "member"], [2307, "module"], [2353, "parameter"], [2561, "parameter"], [2554, "parameter"],
  [2769, "parameter"],
]);
const SUPPRESSIONS = /@ts-(?:ignore|expect-error|nocheck)/g;
const OF_VITEST = new Set(["describe", "it", "test", "expect", "vi", "beforeEach", "afterEach", "beforeAll", "afterAll"]);
const root = process.cwd();
const added = JSON.parse(process.env.TESTWRIGHT_ADDED);
const files = Object.keys(added).filter((name) => /\.[cm]?tsx?$/.test(name)).map((name) => path.join(root, name));

function conditions() {
  try {
    const exported = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8")).exports ?? {};
    const keys = Object.values(exported).flatMap((each) => (each && typeof each === "object" ? Object.keys(each) : []));
    return [...new Set(keys.filter((key) => key.startsWith("@")))];
  } catch {
    return [];
  }
}

const options = {
  noEmit: true, strict: true, noImplicitAny: false, skipLibCheck: true, allowJs: true, checkJs: false,
  module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler, target: ts.ScriptTarget.ES2022,
  lib: ["lib.esnext.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"], types: [], resolveJsonModule: true,
  allowImportingTsExtensions: true, esModuleInterop: true, customConditions: conditions(),
};
const host = ts.createCompilerHost(options);
const suppressed = new Map();
const readFile = host.getSourceFile.bind(host);
host.getSourceFile = (name, version, ...rest) => {
  if (!files.includes(name)) return readFile(name, version, ...rest);
  const text = fs.readFileSync(name, "utf8");
  const lines = new Map();
  text.split("\n").forEach((line, at) => {
    const found = line.match(/@ts-(ignore|expect-error|nocheck)/);
    if (found) lines.set(at + 2, found[1]);
  });
  suppressed.set(name, lines);
  return ts.createSourceFile(name, text.replace(SUPPRESSIONS, (word) => "x".repeat(word.length)), version, true);
};
const program = ts.createProgram(files, options, host);
const checker = program.getTypeChecker();
const found = [];

function note(file, position, kind, name, evidence) {
  const line = file.getLineAndCharacterOfPosition(position).line + 1;
  found.push({ file: path.relative(root, file.fileName), line, kind, name, evidence: evidence.slice(0, 200) });
}

function nodeAt(file, position) {
  let found = file;
  const look = (node) => {
    if (node.getStart(file) <= position && position < node.getEnd()) {
      found = node;
      ts.forEachChild(node, look);
    }
  };
  ts.forEachChild(file, look);
  return found;
}

/** Whether a type is one that says nothing of what its values have, or has it in some of its alternatives. */
function isOpen(type, name) {
  if (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown | ts.TypeFlags.Never | ts.TypeFlags.TypeParameter)) return true;
  if (type.isUnion()) return type.types.some((each) => isOpen(each, name) || checker.getPropertyOfType(each, name));
  if (type.flags & ts.TypeFlags.NonPrimitive) return true;
  return checker.getPropertiesOfType(type).length === 0 && !(type.flags & ts.TypeFlags.Primitive);
}

/** Whether a test says that the error is the behaviour: a value is given where its type is refused on purpose. */
function isDeliberate(file, node) {
  const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
  return suppressed.get(file.fileName)?.get(line) === "expect-error";
}

function diagnose(file) {
  for (const each of [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]) {
    const kind = CODES.get(each.code);
    if (!kind || each.file !== file) continue;
    const words = ts.flattenDiagnosticMessageText(each.messageText, " ");
    const node = nodeAt(file, each.start);
    const quoted = [...words.matchAll(/'([^']*)'/g)].map((match) => match[1]);
    let name = node.text ?? quoted[0] ?? "";
    if (each.code === 2307) {
      name = quoted[0];
      if (isBuiltin(name)) continue;
    } else if (each.code === 2304 || each.code === 2552) {
      if (name in globalThis || OF_VITEST.has(name)) continue;
    } else if (each.code === 2339 || each.code === 2551) {
      const owner = node.parent && ts.isPropertyAccessExpression(node.parent) ? node.parent.expression : undefined;
      if (owner && isOpen(checker.getTypeAtLocation(owner), name)) continue;
    } else if (each.code === 2554) {
      if (isDeliberate(file, node) || !tooMany(words)) continue;
      name = called(node);
    } else if (each.code === 2769) {
      const excess = words.match(/'([^']+)' does not exist in type/);
      if (!excess || isDeliberate(file, node)) continue;
      name = excess[1];
    } else if ((each.code === 2353 || each.code === 2561) && isDeliberate(file, node)) continue;
    if (name) note(file, each.start, kind, name, `TS${each.code}: ${words}`);
  }
}

function tooMany(words) {
  const counts = words.match(/Expected (?:\d+-)?(\d+) arguments?, but got (\d+)/);
  return counts && Number(counts[2]) > Number(counts[1]);
}

function called(node) {
  let at = node;
  while (at && !ts.isCallExpression(at)) at = at.parent;
  const callee = at?.expression;
  return callee ? (callee.name?.text ?? callee.text ?? "") : "";
}

/** The exports of the module that an expression names: a namespace import, also behind `as any`; undefined otherwise. */
function namespaceOf(node) {
  let at = node;
  while (ts.isParenthesizedExpression(at) || ts.isAsExpression(at) || ts.isNonNullExpression(at)) at = at.expression;
  const symbol = ts.isIdentifier(at) || ts.isPropertyAccessExpression(at) ? checker.getSymbolAtLocation(at) : undefined;
  if (!symbol) return undefined;
  const real = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  return real.flags & ts.SymbolFlags.Module ? exportsOf(real) : undefined;
}

function exportsOf(module) {
  return new Set(checker.getExportsOfModule(module).map((each) => each.name));
}

function isBuiltin(specifier) {
  return builtinModules.includes(specifier.replace(/^node:/, "")) || builtinModules.includes(specifier);
}

/** The exports of a module by its specifier; null where there is none, undefined where it can't be told. */
function moduleExports(file, specifier) {
  if (isBuiltin(specifier)) return new Set([...Object.keys(require(specifier)), "default"]);
  const resolved = ts.resolveModuleName(specifier, file.fileName, options, host).resolvedModule;
  if (!resolved) return null;
  const source = program.getSourceFile(resolved.resolvedFileName);
  const symbol = source && checker.getSymbolAtLocation(source);
  return symbol ? exportsOf(symbol) : undefined;
}

/** The type of what a cast hides: `(value as any).name`. */
function beneath(node) {
  let at = node;
  let isCast = false;
  while (ts.isParenthesizedExpression(at) || ts.isAsExpression(at) || ts.isTypeAssertionExpression(at)) {
    isCast ||= !ts.isParenthesizedExpression(at);
    at = at.expression;
  }
  return isCast ? checker.getTypeAtLocation(at) : undefined;
}

function visit(file, node) {
  const name = ts.isPropertyAccessExpression(node)
    ? node.name.text
    : ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)
      ? node.argumentExpression.text
      : undefined;
  if (name !== undefined) {
    const at = (node.name ?? node.argumentExpression).getStart(file);
    const names = namespaceOf(node.expression);
    const type = beneath(node.expression);
    if (names && !names.has(name)) note(file, at, "member", name, `the module has no export ${name}`);
    else if (!names && type && !isOpen(type, name) && !checker.getPropertyOfType(checker.getApparentType(type), name)) {
      if (!checker.getIndexInfosOfType(type).length && !isWritten(node)) {
        note(file, at, "member", name, `behind a cast: ${checker.typeToString(type).slice(0, 80)} has no ${name}`);
      }
    }
  }
  if (ts.isPropertyAccessExpression(node) && isOnlyDeclared(file, checker.getSymbolAtLocation(node.name))) {
    note(file, node.name.getStart(file), "member", node.name.text, "only the suite's own declaration of a module has it");
  }
  if (ts.isVariableDeclaration(node) && ts.isObjectBindingPattern(node.name) && node.initializer) {
    const names = namespaceOf(node.initializer) ?? imported(file, node.initializer);
    for (const element of names ? node.name.elements : []) {
      const wanted = (element.propertyName ?? element.name).text;
      if (wanted && !element.dotDotDotToken && !names.has(wanted)) {
        note(file, element.getStart(file), "member", wanted, `the module has no export ${wanted}`);
      }
    }
  }
  if (ts.isCallExpression(node)) {
    visitCall(file, node);
    visitArguments(file, node);
  }
  if (ts.isImportDeclaration(node) && isBuiltin(node.moduleSpecifier.text)) {
    const names = moduleExports(file, node.moduleSpecifier.text);
    const bindings = node.importClause?.namedBindings;
    for (const each of bindings && ts.isNamedImports(bindings) ? bindings.elements : []) {
      const wanted = (each.propertyName ?? each.name).text;
      const isType = node.importClause.isTypeOnly || each.isTypeOnly;
      if (!isType && !names.has(wanted)) note(file, each.getStart(file), "member", wanted, `Node has no ${wanted}`);
    }
  }
  ts.forEachChild(node, (child) => visit(file, child));
}

/** Whether a member comes from `declare module` in the suite and nothing of the suite makes it. */
function isOnlyDeclared(file, symbol) {
  const declared = symbol?.declarations ?? [];
  if (!declared.length || !declared.every((each) => each.getSourceFile() === file && isInDeclaredModule(each))) return false;
  let isMade = false;
  const look = (node) => {
    const made = ts.isPropertyAssignment(node) || ts.isMethodDeclaration(node) || ts.isShorthandPropertyAssignment(node);
    if (made && node.name.getText(file) === symbol.name) isMade = true;
    if (ts.isPropertyAccessExpression(node) && node.name.text === symbol.name && isWritten(node)) isMade = true;
    ts.forEachChild(node, look);
  };
  look(file);
  return !isMade;
}

function isInDeclaredModule(node) {
  for (let at = node; at; at = at.parent) if (ts.isModuleDeclaration(at) && ts.isStringLiteral(at.name)) return true;
  return false;
}

function isWritten(node) {
  const parent = node.parent;
  return ts.isBinaryExpression(parent) && parent.left === node && parent.operatorToken.kind === ts.SyntaxKind.EqualsToken;
}

/** `await import("x")` as the exports of x. */
function imported(file, node) {
  const call = ts.isAwaitExpression(node) ? node.expression : node;
  const isImport = ts.isCallExpression(call) && call.expression.kind === ts.SyntaxKind.ImportKeyword;
  const [specifier] = isImport ? call.arguments : [];
  return specifier && ts.isStringLiteralLike(specifier) ? (moduleExports(file, specifier.text) ?? undefined) : undefined;
}

function visitCall(file, node) {
  const callee = ts.isPropertyAccessExpression(node.expression) ? node.expression : undefined;
  const [first, second] = node.arguments;
  if (callee && second && ts.isStringLiteralLike(second) && callee.getText(file) === "Reflect.get") {
    const names = namespaceOf(first);
    const type = checker.getTypeAtLocation(first);
    const has = names ? names.has(second.text) : isOpen(type, second.text) || checker.getPropertyOfType(type, second.text);
    if (!has) note(file, second.getStart(file), "member", second.text, `Reflect.get: there is no ${second.text}`);
  }
  if (!callee || !first || !["vi", "vitest"].includes(callee.expression.getText(file))) return;
  if (["mock", "doMock", "importActual", "importMock"].includes(callee.name.text)) {
    const specifier = ts.isStringLiteralLike(first) ? first.text : mockedImport(first);
    if (specifier === undefined) return;
    const names = moduleExports(file, specifier);
    if (names === null) note(file, first.getStart(file), "module", specifier, `there is no module ${specifier}`);
    const factory = second && (ts.isArrowFunction(second) || ts.isFunctionExpression(second)) ? second : undefined;
    for (const key of names && factory ? keysOf(factory) : []) {
      if (!names.has(key.text) && key.text !== "__esModule") {
        note(file, key.node.getStart(file), "member", key.text, `the mocked module has no export ${key.text}`);
      }
    }
  } else if (callee.name.text === "spyOn" && second && ts.isStringLiteralLike(second)) {
    const type = beneath(first) ?? checker.getTypeAtLocation(first);
    const names = namespaceOf(first);
    const has = names ? names.has(second.text) : isOpen(type, second.text) || checker.getPropertyOfType(type, second.text);
    if (!has) note(file, second.getStart(file), "member", second.text, `what is spied on has no ${second.text}`);
  }
}

/** `require("absent")`, and options that a cast hides: `f({ absent: 1 } as any)`. */
function visitArguments(file, node) {
  const [first] = node.arguments;
  if (ts.isIdentifier(node.expression) && node.expression.text === "require" && first && ts.isStringLiteralLike(first)) {
    if (moduleExports(file, first.text) === null) {
      note(file, first.getStart(file), "module", first.text, `there is no module ${first.text}`);
    }
  }
  node.arguments.forEach((argument, at) => {
    let inner = argument;
    while (ts.isParenthesizedExpression(inner) || ts.isAsExpression(inner)) inner = inner.expression;
    if (inner === argument || !ts.isObjectLiteralExpression(inner)) return;
    const parameter = checker.getResolvedSignature(node)?.parameters[at];
    const type = parameter && checker.getNonNullableType(checker.getTypeOfSymbolAtLocation(parameter, node));
    for (const each of type ? inner.properties : []) {
      const key = each.name && (ts.isIdentifier(each.name) || ts.isStringLiteralLike(each.name)) ? each.name.text : "";
      if (!key || isOpen(type, key) || checker.getIndexInfosOfType(type).length || checker.getPropertyOfType(type, key)) continue;
      note(file, each.getStart(file), "parameter", key, `behind a cast: ${checker.typeToString(type).slice(0, 80)} has no ${key}`);
    }
  });
}

function mockedImport(node) {
  const isImport = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
  return isImport && ts.isStringLiteralLike(node.arguments[0]) ? node.arguments[0].text : undefined;
}

/** The keys of the object that a factory returns. */
function keysOf(factory) {
  const keys = [];
  const look = (node) => {
    let at = node;
    while (at && (ts.isParenthesizedExpression(at) || ts.isAsExpression(at))) at = at.expression;
    if (!at || !ts.isObjectLiteralExpression(at)) return;
    for (const each of at.properties) {
      if (each.name && (ts.isIdentifier(each.name) || ts.isStringLiteralLike(each.name))) {
        keys.push({ text: each.name.text, node: each });
      }
    }
  };
  if (ts.isBlock(factory.body)) {
    for (const each of factory.body.statements) if (ts.isReturnStatement(each)) look(each.expression);
  } else look(factory.body);
  return keys;
}

for (const name of files) {
  const file = program.getSourceFile(name);
  if (!file) continue;
  diagnose(file);
  visit(file, file);
}
fs.writeFileSync(path.join(process.env.TESTWRIGHT_NAMES, "names.json"), JSON.stringify(found));
