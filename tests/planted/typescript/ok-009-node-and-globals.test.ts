// kind: none; line: 0; name: -; how: Node builtins and globals
import { createHash, randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import * as z from "zod/v4";

test("hashes and UUIDs", () => {
  expect(z.hash("sha256").safeParse(createHash("sha256").update("x").digest("hex")).success).toBe(true);
  expect(z.uuidv4().safeParse(randomUUID()).success).toBe(true);
  expect(z.uuid().safeParse(globalThis.crypto.randomUUID()).success).toBe(true);
});

test("base64", () => {
  const text = Buffer.from("zod").toString("base64url");
  expect(z.base64url().parse(text)).toBe(text);
  expect(new TextDecoder().decode(z.util.base64ToUint8Array("eg=="))).toBe("z");
});

test("the process and others", async () => {
  expect(z.array(z.string()).safeParse(process.argv).success).toBe(true);
  expect(z.int().parse(Number(process.versions.node.split(".")[0]))).toBeGreaterThan(17);
  expect(z.record(z.string(), z.string().optional()).safeParse({ ...process.env }).success).toBe(true);
  expect(path.basename(import.meta.url)).toContain(".test.ts");
  const emitter = new EventEmitter();
  const waiting = once(emitter, "done");
  await sleep(1);
  emitter.emit("done", structuredClone({ a: new Map([[1, 2]]) }));
  expect((await waiting)[0].a.get(1)).toBe(2);
  expect(z.url().safeParse(new URL("/a", "https://example.com").href).success).toBe(true);
});
