"""What TypeScript's rules leave as it was, seen by running code before and after them."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import cast

import pytest

from harness.judging.languages.composing import Names, Rule, compose
from harness.judging.languages.functions import Piece, functions_of
from harness.judging.languages.typescript.rewriting.catalogue import CATALOGUE, GRAMMAR, in_plain_form, running_text
from harness.judging.languages.variant_source import VariantSource
from harness.sandbox.protocol import Image, Job, PlacedFile, SandboxOptions
from harness.specs.variants import VariantKind
from harness.tracks.registry import choose_engine
from tests.support.typescript_traps import TRAPS, Trap

pytestmark = [pytest.mark.docker, pytest.mark.long]
REPO = "zod"
LABELS = {"testwright.run": "test-typescript-rewriting"}
REQUEST = "/tmp/in.json"
SEEDS = range(3)
MADE_BY_PLAIN_FORM = {"arrow-with-block", "statement-in-block"}
# Results of calls, with what they noted, for each text of a request: {key: {text, calls}}.
RUN = """
const { readFileSync, writeFileSync } = require("node:fs");
const { inspect } = require("node:util");
const { transformSync } = require("/node_modules/esbuild");
let log = [];
const seen = (name, o) => new Proxy(o, {
  get: (t, k, r) => { log.push(`${name}.${String(k)}`); return Reflect.get(t, k, r); },
  set: (t, k, v, r) => { log.push(`${name}.${String(k)}=`); return Reflect.set(t, k, v, r); },
  has: (t, k) => { log.push(`${String(k)} in ${name}`); return k in t; },
});
const shown = (value) => inspect(value, { depth: 6, showProxy: false });
(async () => {
  const all = {};
  for (const [key, { text, calls }] of Object.entries(JSON.parse(readFileSync(process.argv[1], "utf8")))) {
    const made = { code: "", results: [] };
    try {
      const options = { loader: "ts", target: "esnext", format: "cjs", tsconfigRaw: "{}", logLevel: "silent" };
      made.code = transformSync(text, options).code;
      for (const call of calls) {
        log = [];
        let end;
        try {
          const body = `${made.code}\\nreturn (${call});`;
          end = shown(await new Function("exports", "module", "log", "seen", body)({}, {}, log, seen));
        } catch (error) { end = `${error.name}: ${error.message}`; }
        made.results.push([end, ...log]);
      }
    } catch (error) { made.results.push(`does not compile: ${error.message}`); }
    all[key] = made;
  }
  writeFileSync(process.argv[2], JSON.stringify(all));
})();
"""


def in_a_container(image: Image, script: str, request: object) -> dict[str, object]:
    """What a script of node writes for a request."""

    async def run() -> bytes:
        job = Job(
            argv=("bash", "-c", 'exec node -e "$1" "$2" "$TESTWRIGHT_REPORT_DIR/out.json"', "run", script, REQUEST),
            files=(PlacedFile(REQUEST, json.dumps(request).encode()),),
            seconds=120,
        )
        engine = choose_engine("docker")
        try:
            result = await engine.run_job(image, job, SandboxOptions(), LABELS)
        finally:
            await engine.close()
        assert result.exit_status == 0, result.log
        return result.outputs["out.json"]

    found: dict[str, object] = json.loads(asyncio.run(run()))
    return found


def outcomes(image: Image, texts: dict[str, tuple[str, Trap]]) -> dict[str, dict[str, object]]:
    request = {key: {"text": text, "calls": trap.calls} for key, (text, trap) in texts.items()}
    return cast("dict[str, dict[str, object]]", in_a_container(image, RUN, request))


def changed(trap: Trap, rules: tuple[Rule, ...], count: int, seed: int) -> tuple[str, tuple[str, ...]]:
    found = {rule.name for rule in rules} <= MADE_BY_PLAIN_FORM
    text = trap.text.encode() if found else in_plain_form(GRAMMAR, trap.text.encode(), [trap.name])
    names = Names(
        ["some", "other", "words", "of", "this", "function"], [text], CATALOGUE.join, chance := Random(seed)
    )
    made = compose(GRAMMAR, rules, Piece.of(GRAMMAR, text, trap.name), count, names.fresh, chance)
    return made.piece.whole.decode(), made.applied


def test_each_rule_alone_keeps_what_can_be_seen_and_changes_the_code_somewhere(image: Image):
    texts = {f"{name}/plain": (trap.text, trap) for name, trap in TRAPS.items()}
    applied: dict[str, list[str]] = {}
    for rule in CATALOGUE.rules:
        for name, trap in TRAPS.items():
            for seed in SEEDS:
                text, done = changed(trap, (rule,), 4, seed)
                if done:
                    applied.setdefault(rule.name, []).append(key := f"{name}/{rule.name}/{seed}")
                    texts[key] = text, trap
    assert set(applied) == {rule.name for rule in CATALOGUE.rules}
    found = outcomes(image, texts)
    wrong = [key for key, made in found.items() if made["results"] != plain(found, key)["results"]]
    assert not wrong, (wrong, found[wrong[0]], plain(found, wrong[0]))
    idle = {
        name for name, keys in applied.items() if all(found[key]["code"] == plain(found, key)["code"] for key in keys)
    }
    assert not idle


def test_many_rules_and_inert_code_together_keep_what_can_be_seen(image: Image):
    texts = {f"{name}/plain": (trap.text, trap) for name, trap in TRAPS.items()}
    texts |= {f"{name}/{seed}": (rewritten(trap, seed), trap) for name, trap in TRAPS.items() for seed in range(5)}
    found = outcomes(image, texts)
    wrong = [key for key, made in found.items() if made["results"] != plain(found, key)["results"]]
    assert not wrong, (wrong, found[wrong[0]], plain(found, wrong[0]))
    assert len({str(made["code"]) for made in found.values()}) == len(found)


def plain(found: dict[str, dict[str, object]], key: str) -> dict[str, object]:
    return found[f"{key.partition('/')[0]}/plain"]


def mutant(trap: Trap) -> bytes:
    """The same file with another statement at the start of the function."""
    text = trap.text.encode()
    at = functions_of(GRAMMAR, text)[trap.name].body.start_byte + 1
    return text[:at] + b' if (Math.random() < 2) throw new Error("a mutant");' + text[at:]


def rewritten(trap: Trap, seed: int) -> str:
    pristine, broken = trap.text.encode(), mutant(trap)
    source = VariantSource(
        name="x",
        kind=VariantKind.BASELINE,
        disk={"a.ts": pristine},
        code={"a.ts": pristine},
        family={"a.ts": (pristine, broken)},
        inert={"a.ts": (pristine, broken)},
        seed=seed,
    )
    return running_text(source, "a.ts").decode()


@pytest.mark.parametrize(("rules", "seen_through"), [(1, range(4, 10)), (25, range(1)), (80, range(1))])
def test_an_attacker_who_folds_away_what_rules_leave_behind_sees_through_few_rules_only(
    image: Image, tree: Mapping[str, bytes], rules: int, seen_through: range
):
    known = tree["src/v4/core/errors.ts"]
    texts: dict[str, str] = {}
    for name in ("node", "flattenError", "prettifyError"):
        text = functions_of(GRAMMAR, known)[name].node.text or b""
        texts[f"{name}/plain"] = text.decode()
        for seed in range(3):
            texts[f"{name}/{seed}"], _ = changed(Trap(text.decode(), (), name), CATALOGUE.rules, rules, seed)
    exported = {key: f"export {text.removeprefix('export ')}" for key, text in texts.items()}
    script = (Path(__file__).parents[1] / "support/typescript_normaliser.cjs").read_text()
    forms = in_a_container(image, script, exported)
    same = [key for key, form in forms.items() if form == forms[f"{key.partition('/')[0]}/plain"]]
    assert len(same) - 3 in seen_through
