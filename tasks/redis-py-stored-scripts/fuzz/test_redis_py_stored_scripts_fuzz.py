import os
import pathlib
import random

import redis

TEXTS = (
    "return {KEYS, ARGV}",
    "return {#KEYS, #ARGV, ARGV[#ARGV], KEYS[1]}",
    "return redis.call('APPEND', KEYS[1], ARGV[1])",
    "return redis.call('GET', KEYS[1])",
    "redis.call('SELECT', 3) return redis.call('DBSIZE')",
    "return redis.error_reply('wrong')",
    "return 'é'",
    b"return '\xff'",
    "\nreturn 1 -- with a line in front of it\n",
)
KEYS = (None, (), ("a",), ("a", "b"), ["b", "a", "c"], (b"\xff",), ("é", "b"))
ARGS = (None, (), ("1",), (1, 2.5, b"x"), ["z", "y", "x"], ("é",), range(3))


def shown_error(error: BaseException) -> str:
    return f"{type(error).__name__} {error}"


def loads(client):
    """How many texts and calls the server has got."""
    stats = client.info("commandstats")
    return [stats.get(f"cmdstat_{name}", {}).get("calls", 0) for name in ("script|load", "script|exists", "evalsha")]


def piped(client, scripts, chosen, transaction):
    """The results of a pipeline in which some scripts stand among other commands."""
    told = []
    with client.pipeline(transaction=transaction) as pipe:
        for number, keys, args in chosen:
            pipe.append("a", "-")
            told.append(scripts[number](keys, args, client=pipe) is pipe)
        told += pipe.execute(raise_on_error=False)
    return [shown_error(each) if isinstance(each, Exception) else each for each in told]


def session(texts, steps):
    client, other = redis.Redis(), redis.Redis(db=5)
    client.flushall()
    client.script_flush()
    client.config_resetstat()
    scripts = [client.register_script(text) for text in texts]
    told = [client.register_script("return 7")(), [(script.sha, script.script) for script in scripts]]
    for kind, chosen in steps:
        number, keys, args = chosen[0]
        try:
            if kind == "lost":
                result = client.script_flush()
            elif kind == "other":
                result = scripts[number](keys, args, client=other)
            elif kind == "pipeline":
                result = piped(client, scripts, chosen, True)
            elif kind == "other pipeline":
                result = piped(other, scripts, chosen, False)
            else:
                result = scripts[number](keys=keys, args=args)
        except Exception as error:
            result = shown_error(error)
        told.append((kind, result, client.get("a"), other.get("a"), loads(client)))
    told.append([script.sha for script in scripts])
    return told


def test_fuzz_stored_scripts():
    """Calls the code on drawn inputs, each of them twice, and writes down what it answers."""
    draw = random.Random(int(os.environ["TESTWRIGHT_FUZZ_SEED"]))
    lines = []
    for _ in range(60):
        texts = draw.sample(TEXTS, k=4)
        steps = [
            (
                draw.choice(("call", "call", "call", "lost", "lost", "other", "pipeline", "other pipeline")),
                [(draw.randrange(4), draw.choice(KEYS), draw.choice(ARGS)) for _ in range(draw.randrange(1, 5))],
            )
            for _ in range(20)
        ]
        for _ in range(2):
            try:
                result = repr(session(texts, steps))
            except Exception as error:
                result = shown_error(error)
            lines.append(f"session{ascii((texts, steps))} => {ascii(result)}\n")

    with open(pathlib.Path(os.environ["TESTWRIGHT_REPORT_DIR"]) / "fuzz.txt", "a", encoding="utf-8") as report:
        report.writelines(lines)
