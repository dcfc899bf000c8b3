"""Lets clients send drawn commands to servers with drawn limits: `INPUT => RESULT`, the result in replies and log."""

import asyncio
import hashlib
import logging

from testwright_drawing import drawn_calls

from aiosmtpd.handlers import Sink
from aiosmtpd.smtp import SMTP

INPUTS = 100
VERBS = ["NOOP", "RSET", "HELP", "VRFY a@x", "EXPN all", "HELO me", "EHLO me", "MAIL FROM:<a@x>", "QUIT now"]
ODD = ["noop", "NoOp a b", "BOGUS", "  ", " NOOP", "NOOP " + "x" * 600, "NOOP \xe9", "n\xf6op", "QUIT", "*", ""]
COUNTED = VERBS[:-1]
MEANT = 7


class Wire(asyncio.Transport):
    """A transport without a network: keeps what the server writes"""

    def __init__(self, loop, protocol):
        super().__init__({"peername": ("192.0.2.1", 4711)})
        self.loop, self.protocol = loop, protocol
        self.written, self.closing = [], False

    def write(self, data):
        if not self.closing:
            self.written.append(bytes(data))

    def is_closing(self):
        return self.closing

    def close(self):
        if not self.closing:
            self.closing = True
            self.loop.call_soon(self.protocol.connection_lost, None)

    def pause_reading(self):
        pass

    def resume_reading(self):
        pass


class Log(logging.Handler):
    def __init__(self):
        super().__init__(logging.DEBUG)
        self.lines = []

    def emit(self, record):
        self.lines.append(f"{record.levelname} {record.getMessage()}"[:300])


async def settle():
    for _ in range(8):
        await asyncio.sleep(0)


async def talk(limit, handler, chunks):
    """One connection, of which each chunk of bytes arrives at once"""
    loop = asyncio.get_running_loop()
    try:
        server = SMTP(handler, hostname="here", loop=loop, command_call_limit=limit)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    wire = Wire(loop, server)
    server.connection_made(wire)
    await settle()
    for chunk in chunks:
        if not wire.closing:
            server.data_received(chunk)
        await settle()
    left = "open" if not wire.closing else "closed"
    wire.close()
    await settle()
    return f"{b''.join(wire.written)!r} {left}"


def drawn_limit(draw):
    number = draw.choice([0, 1, 2, 3, 5, 21, -1, True, False])
    names = [verb.split()[0] for verb in draw.sample(VERBS, draw.randint(0, 3))]
    table = {name: draw.choice([0, 1, 2, 4, 22, -2, True]) for name in names}
    if draw.random() < 0.5:
        table["*"] = draw.choice([0, 1, 3, 6, 25, -1])
    return draw.choice([None, number, number, table, table, table, "3", 2.0, {"NOOP": "1"}, [1]])


def drawn_commands(draw, limit):
    own = draw.sample(VERBS, draw.randint(1, 3)) + draw.choices(ODD, k=draw.randint(0, 2))
    lines = ["HELO me"] * draw.randint(0, 1) + draw.choices(own, k=draw.choice([3, 8, 15, 40]))
    lines += draw.choice([[own[0]] * MEANT, [own[0]] * 24, []]) or ["NOOP"] * MEANT
    if limit is None:  # what isn't counted shows in many calls alone: before a QUIT or too many bogus ones end it
        lines = [draw.choice(COUNTED)] * MEANT + lines
    chunks = [line.encode("latin-1") + b"\r\n" for line in lines]
    if draw.random() < 0.5:
        return chunks
    cuts = sorted(draw.sample(range(len(chunks) + 1), 2))
    parts = [chunks[: cuts[0]], chunks[cuts[0] : cuts[1]], chunks[cuts[1] :]]
    return [b"".join(part) for part in parts if part]


async def answer(limit, conversations):
    log, handler = Log(), Sink()
    logger = logging.getLogger("mail.log")
    logger.addHandler(log)
    level = logger.level
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    try:
        replies = [await talk(limit, handler, chunks) for chunks in conversations]
    finally:
        logger.removeHandler(log)
        logger.setLevel(level)
        logger.propagate = True
    result = f"{replies!r} {vars(handler)!r} {log.lines!r}"
    return f"{result[:1000]} sha256 {hashlib.sha256(result.encode()).hexdigest()}"


def test_drawn_clients():
    with drawn_calls() as (draw, call):
        for _ in range(INPUTS):
            limit = drawn_limit(draw)
            conversations = [drawn_commands(draw, limit) for _ in range(draw.choice([1, 1, 2]))]
            call("talk", (limit, conversations), lambda: asyncio.run(answer(limit, conversations)))
