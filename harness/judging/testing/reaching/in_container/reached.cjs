// Notes which lines of the work tree a process of Node.js runs, by V8's own counts; loaded before all else (--require).
// A source that was compiled on the way is followed back to its lines by its source map. Of the files that
// $TESTWRIGHT_FILES lists, where it is given, also which lines there are, and which of V8's blocks ran.
"use strict";
const { ChildProcess } = require("node:child_process");
const fs = require("node:fs");
const { Session } = require("node:inspector");
const path = require("node:path");
const { fileURLToPath } = require("node:url");
const { threadId } = require("node:worker_threads");

const out = path.join(process.env.TESTWRIGHT_REACHED, `reached-${process.pid}-${threadId}.json`);
const root = process.env.TESTWRIGHT_ROOT;
const chosen = process.env.TESTWRIGHT_FILES && JSON.parse(process.env.TESTWRIGHT_FILES);
const { existsSync, readFileSync, writeFileSync } = fs; // tests may replace them
const MAP = /^[ \t]*\/\/[#@] sourceMappingURL=(\S+)[ \t]*$/gm;
const TOKENS = /[\w$]+|[^\s\w$]/g;
const COMMENT = /^\s*(?:\/\/|\/\*|\*)/;
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

const session = new Session();
session.connect();
ask("Profiler.enable");
ask("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
process.once("exit", keep);
// A pool of processes ends them by SIGTERM, and by SIGKILL a second later: time to write is needed.
const leave = process.exit.bind(process);
process.once("SIGTERM", () => leave(143));
const kill = ChildProcess.prototype.kill;
ChildProcess.prototype.kill = function (signal) {
  if (signal !== "SIGKILL" || !this.killed) return kill.call(this, signal);
  setTimeout(() => kill.call(this, signal), 60_000).unref();
  return true;
};

/** Sessions with one's own thread answer before `post` returns. */
function ask(method, given) {
  let answer;
  session.post(method, given, (error, result) => {
    if (error) throw new Error(`${method}: ${error.message}`);
    answer = result;
  });
  return answer;
}

function keep() {
  const counted = ask("Profiler.takePreciseCoverage").result;
  const scripts = new Map();
  session.on("Debugger.scriptParsed", ({ params }) => scripts.set(params.scriptId, params));
  ask("Debugger.enable");
  const reached = new Map(), facts = {};
  for (const { scriptId, url, functions } of counted) {
    const file = inTree(url);
    if (!file || !scripts.has(scriptId)) continue;
    const text = ask("Debugger.getScriptSource", { scriptId }).scriptSource;
    const { entries, counts, places } = countedLines(file, text, scripts.get(scriptId), functions);
    if (chosen) {
      addFacts(facts, entries, counts, places, functions);
      continue;
    }
    for (const { source, line } of entries.filter(hasRun)) {
      const name = path.relative(root, source);
      reached.set(name, (reached.get(name) ?? new Set()).add(line));
    }
  }
  if (chosen) return writeFileSync(out, JSON.stringify(facts, (_, value) => (value instanceof Set ? [...value] : value)));
  const lines = [...reached].map(([name, numbers]) => [name, [...numbers].sort((a, b) => a - b)]);
  writeFileSync(out, JSON.stringify(Object.fromEntries(lines)));
}

/** The absolute path of a script in the work tree; "" for any other. */
function inTree(url) {
  const name = url.split("?")[0];
  const file = name.startsWith("file://") ? fileURLToPath(name) : name;
  return file.startsWith(root + path.sep) && !file.includes("/node_modules/") ? file : "";
}

/** Adds to what is known of each chosen file. A block has the name of its first place; so has each place that ran. */
function addFacts(facts, entries, counts, places, functions) {
  const of = (source) => {
    const name = path.relative(root, source);
    if (!chosen.includes(name)) return null;
    return (facts[name] ??= { lines: new Set(), ran: new Set(), branches: new Set(), taken: new Set() });
  };
  for (const entry of entries) {
    of(entry.source)?.lines.add(entry.line);
    if (hasRun(entry)) of(entry.source)?.ran.add(entry.line);
  }
  const ordered = [...places].sort((a, b) => a.offset - b.offset);
  for (const place of ordered) if (counts[place.offset] > 0) of(place.source)?.taken.add(nameOf(place));
  for (const { startOffset, endOffset } of functions.flatMap(({ ranges }) => ranges.slice(1))) {
    const first = ordered.find(({ offset }) => offset >= startOffset);
    if (first && first.offset < endOffset) of(first.source)?.branches.add(nameOf(first));
  }
}

function nameOf({ line, column }) {
  return `${line}:${column}`;
}

function hasRun({ ran, inFunction }) {
  return ran[inFunction];
}

/**
 * Each source line, and whether it ran. What stands at the top of a file runs when it is loaded; that says nothing of a
 * function which is written on the same line.
 */
function countedLines(file, text, script, functions) {
  const places = mapped(file, text, script) ?? identical(file, text);
  const counts = new Int32Array(text.length + 1), within = new Uint8Array(text.length + 1);
  const first = places.reduce((least, { offset }) => Math.min(least, offset), text.length);
  const last = places.reduce((most, { offset }) => Math.max(most, offset), 0);
  const outermostFirst = (a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset;
  for (const range of functions.flatMap(({ ranges }) => ranges).sort(outermostFirst)) {
    counts.fill(range.count, range.startOffset, range.endOffset);
  }
  for (const { ranges: [whole] } of functions) {
    if (whole.startOffset > first || whole.endOffset <= last) within.fill(1, whole.startOffset, whole.endOffset);
  }
  const found = new Map();
  for (const { offset, source, line } of places) {
    const key = `${line} ${source}`;
    const entry = found.get(key) ?? { source, line, ran: [false, false], inFunction: 0 };
    entry.inFunction |= within[offset];
    entry.ran[within[offset]] ||= counts[offset] > 0;
    found.set(key, entry);
  }
  return { entries: [...found.values()], counts, places };
}

/** Each token of a text that runs as it was written. */
function identical(file, text) {
  let begin = 0;
  return text.split("\n").flatMap((line, number) => {
    const at = begin;
    begin += line.length + 1;
    if (COMMENT.test(line)) return [];
    return [...line.matchAll(TOKENS)].map(({ index }) => ({
      offset: at + index,
      source: file,
      line: number + 1,
      column: index,
    }));
  });
}

/** Each place of a compiled text that its map knows; null without a map. */
function mapped(file, text, script) {
  const named = [...text.matchAll(MAP)].at(-1)?.[1] ?? script.sourceMapURL;
  const map = named && readMap(file, named);
  if (!map) return null;
  const folder = path.resolve(path.dirname(file), map.sourceRoot ?? "");
  const at = (name) => (name.startsWith("file://") ? fileURLToPath(name) : path.resolve(folder, name));
  const sources = map.sources.length === 1 && !map.sources[0] ? [file] : map.sources.map((name) => at(name ?? ""));
  const begins = [0];
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", end + 1)) begins.push(end + 1);
  begins[0] -= script.startColumn; // what was put before the first line
  return segments(map.mappings)
    .map(([line, column, source, original, originalColumn]) => ({
      offset: begins[line] + column,
      source: sources[source],
      line: original + 1,
      column: originalColumn,
    }))
    .filter(({ offset, source }) => source !== undefined && offset >= 0 && offset < text.length);
}

function readMap(file, named) {
  const data = /^data:application\/json[^,]*?(;base64)?,(.*)$/.exec(named);
  if (data) return JSON.parse(data[1] ? Buffer.from(data[2], "base64").toString() : decodeURIComponent(data[2]));
  const beside = path.resolve(path.dirname(file), named);
  return existsSync(beside) ? JSON.parse(readFileSync(beside, "utf8")) : null;
}

/** [generated line, column, source, original line, original column] of each segment, all from 0. */
function segments(mappings) {
  const found = [];
  let source = 0, original = 0, originalColumn = 0;
  mappings.split(";").forEach((line, number) => {
    let column = 0;
    for (const segment of line.split(",").filter(Boolean)) {
      const [columns, sources, lines, originalColumns] = decoded(segment);
      column += columns;
      if (sources === undefined) continue;
      source += sources;
      original += lines;
      originalColumn += originalColumns;
      found.push([number, column, source, original, originalColumn]);
    }
  });
  return found;
}

/** Base 64 digits of five bits and one that says that more follow; the lowest bit of a number is its sign. */
function decoded(segment) {
  const numbers = [];
  let value = 0, shift = 0;
  for (const letter of segment) {
    const digit = DIGITS.indexOf(letter);
    value |= (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(value & 1 ? -(value >>> 1) : value >>> 1);
    value = shift = 0;
  }
  return numbers;
}
