"""Starts the program on drawn command lines and sends drawn mail: `INPUT => RESULT`, the result in all that is seen."""

import asyncio
import contextlib
import io
import logging
import mailbox
import shutil
import ssl
import tempfile
from pathlib import Path

from pkg_resources import resource_filename
from testwright_drawing import answer, drawn_calls

from aiosmtpd import main as program
from aiosmtpd.handlers import Mailbox
from aiosmtpd.smtp import SMTP, Envelope, Session

COMMAND_LINES = 45
CONVERSATIONS = 40
MESSAGES = 20
CRT = resource_filename("aiosmtpd.tests.certs", "server.crt")
KEY = resource_filename("aiosmtpd.tests.certs", "server.key")
PEOPLE = ["a@x.org", "b@x.org", "c+d@y.org", "long" * 20 + "@z.org"]
ABROAD = ["bärt@x.org", "用户@例子.org"]
TEXTS = [
    b"Subject: One\r\n\r\nText\r\n",
    b"From: a@x\r\nSubject: Two\r\n\r\n.dot\r\n..dots\r\n\r\nend\r\n",
    b"Subject: 8bit\r\nContent-Transfer-Encoding: 8bit\r\n\r\ncaf\xc3\xa9 \xe9\r\n",
    b"no header\r\n",
    b"\r\n",
    b"Subject: M\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\npart\r\n--b--\r\nafter\r\n",
    b"Subject: Long\r\n\r\n" + b"0123456789\r\n" * 40,
    b"Subject: Line\r\n\r\n" + b"y" * 990 + b"\r\n",
    b"Subject: Too long a line\r\n\r\n" + b"z" * 2500 + b"\r\nend\r\n",
]


class Log(logging.Handler):
    def __init__(self):
        super().__init__(logging.DEBUG)
        self.lines = []

    def emit(self, record):
        self.lines.append(f"{record.levelname} {record.getMessage()}"[:200])


class Server:
    def __init__(self, calls):
        self.calls = calls

    def close(self):
        self.calls.append("close")

    async def wait_closed(self):
        self.calls.append("wait_closed")

    def __repr__(self):
        return "Server"


class Loop:
    """Writes down what the program asks of its event loop"""

    def __init__(self):
        self.calls = []

    async def create_server(self, factory, *args, **kwargs):
        loop = asyncio.new_event_loop()
        server = factory(loop=loop, hostname="here")
        loop.close()
        shown = {name: getattr(server, name) for name in ("data_size_limit", "enable_SMTPUTF8", "tls_context")}
        needed = bool(server.require_starttls)
        self.calls.append(f"create_server {settings(shown)} {needed} {args} {settings(kwargs)}")
        return Server(self.calls)

    def run_until_complete(self, coroutine):
        try:
            coroutine.send(None)
        except StopIteration as ended:
            return ended.value

    def add_signal_handler(self, number, function):
        self.calls.append(f"signal {int(number)}")
        if len(self.calls) % 2:
            raise NotImplementedError

    def run_forever(self):
        self.calls.append("run_forever")
        raise KeyboardInterrupt

    def set_debug(self, enabled):
        self.calls.append(f"debug {enabled}")

    def stop(self):
        self.calls.append("stop")

    def close(self):
        self.calls.append("closed")


def settings(named):
    """In words, in alphabetical order; of a context what is left to choose"""

    def word(value):
        if isinstance(value, ssl.SSLContext):
            chosen = (value.protocol, value.verify_mode, value.check_hostname, value.options)
            return f"context {[int(number) for number in chosen]} {value.get_ca_certs()}"
        return repr(value)

    return sorted(f"{name}={word(value)}" for name, value in named.items())


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


def stored(directory):
    """The mails below a directory, without what a Maildir puts into their names"""
    files = [path for path in directory.rglob("*") if path.is_file()]
    return sorted((path.parent.name, path.read_bytes()) for path in files)


@contextlib.contextmanager
def logged():
    log, loggers = Log(), [logging.getLogger("mail.log"), logging.getLogger("mail.debug")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(log)
        logger.setLevel(logging.DEBUG)
        logger.propagate = False
    try:
        yield log.lines
    finally:
        for logger, level in zip(loggers, levels):
            logger.removeHandler(log)
            logger.setLevel(level)
            logger.propagate = True


def command_line(draw):
    """Words, of which DIR stands for a fresh directory"""
    words = ["-n"] + ["-d"] * draw.choice([0, 0, 1, 2, 3])
    words += ["-c", "aiosmtpd.handlers." + draw.choice(["Mailbox"] * 18 + ["Sink"])]
    words += draw.choice([*[[], ["-s", "0"], ["-s", "1000"]] * 4, ["--size=5"], ["-s", "x"]])
    words += draw.choice([[], ["-u"], ["--smtputf8"]]) + draw.choice([[], ["--no-requiretls"]])
    listen = [":8125", "127.0.0.1:25", "::1", "here", "here:", ":", "a:b", "[::1]:465", "127.0.0.1:2525"]
    words += draw.choice([[], ["-l", draw.choice(listen)]])
    for kind in "tls", "smtps":
        cert, key = draw.choice([CRT] * 9 + ["/nowhere.crt", ""]), draw.choice([KEY] * 9 + ["/nowhere.key"])
        both = [f"--{kind}cert", cert, f"--{kind}key", key]
        words += draw.choice([[], [], both, both, both, both[:2], both[2:]])
    return words + ["DIR"] * draw.choice([1] * 10 + [0, 2])


def start(words, directory):
    """What the program does with a command line up to its end, which an interrupt brings about"""
    loop, shown, errors = Loop(), io.StringIO(), io.StringIO()
    before, program._get_or_new_eventloop = program._get_or_new_eventloop, lambda: loop
    log = logging.getLogger("mail.log")
    level, log.level = log.level, logging.NOTSET
    try:
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(errors):
            program.main([str(directory / word) if word == "DIR" else word for word in words])
        ended = "returned"
    except SystemExit as error:
        ended = f"exit {error.code}"
    finally:
        program._get_or_new_eventloop = before
        ended_level, log.level = log.level, level
    last = errors.getvalue().strip().rpartition("\n")[2]
    return f"{ended} {loop.calls} {ended_level} {shown.getvalue()!r} {last!r} {stored(directory)}"


async def talk(arguments, chunks, directory):
    """One connection to a mail drop, of which each chunk of bytes arrives at once"""
    loop = asyncio.get_running_loop()
    handler = Mailbox(directory / "drop")
    server = SMTP(handler, hostname="here", loop=loop, **arguments)
    server.line_length_limit = 1001
    wire = Wire(loop, server)
    server.connection_made(wire)
    for chunk in [b"", *chunks]:
        if chunk and not wire.closing:
            server.data_received(chunk)
        for _ in range(12):
            await asyncio.sleep(0)
    left = "open" if not wire.closing else "closed"
    wire.close()
    for _ in range(4):
        await asyncio.sleep(0)
    return f"{b''.join(wire.written)!r} {left} {stored(directory)}"


def conversation(draw):
    arguments = {
        "data_size_limit": draw.choice([None, 0, 300, 5000, 2**25]),
        "enable_SMTPUTF8": draw.random() < 0.4,
        "decode_data": draw.random() < 0.3,
    }
    chunks = [draw.choice([b"EHLO me\r\n", b"HELO me\r\n", b"EHLO me\r\n"])]
    if draw.random() < 0.75:  # much of what follows is refused, and then nothing is stored
        chunks += [b"MAIL FROM:<a@x.org>\r\n", b"RCPT TO:<b@x.org>\r\n", b"DATA\r\n", TEXTS[0] + b".\r\n"]
    for _ in range(draw.choice([1, 2, 3])):
        people = [draw.choice(PEOPLE + ABROAD[: draw.randint(0, 2)]) for _ in range(draw.choice([1, 1, 2, 4]))]
        options = draw.choice(["", "", " SIZE=200", " SIZE=9000", " SMTPUTF8", " BODY=8BITMIME"])
        lines = [f"MAIL FROM:<{draw.choice(PEOPLE + ABROAD[:1])}>{options}", *(f"RCPT TO:<{who}>" for who in people)]
        text = draw.choice(TEXTS)
        dotted = text.replace(b"\r\n.", b"\r\n..")
        chunks += [line.encode() + b"\r\n" for line in [*lines, "DATA"]] + [dotted + b".\r\n"]
        if draw.random() < 0.2:
            chunks += [draw.choice([b"RSET\r\n", b"NOOP " + b"x" * 3000 + b"\r\n", b"caf\xe9\r\n", b"\r\n", b"what\r\n"])]
    if draw.random() < 0.3:
        chunks = [b"".join(chunks)]
    return arguments, chunks


def message(draw):
    content = draw.choice([*TEXTS, *(text.decode("latin-1") for text in TEXTS), bytearray(TEXTS[0]), None])
    sender, people = draw.choice(PEOPLE), draw.choices(PEOPLE, k=draw.randint(0, 4))
    return content, sender, people, draw.random() < 0.2


def deliver(content, sender, people, cleared, directory):
    handler, envelope, session = Mailbox(directory / "drop"), Envelope(), Session(None)
    session.peer = ("192.0.2.1", 4711)
    envelope.content, envelope.mail_from, envelope.rcpt_tos = content, sender, people
    status = asyncio.run(handler.handle_DATA(None, session, envelope))
    again = mailbox.Maildir(handler.mail_dir)
    if cleared:
        handler.reset()
    return f"{status} {len(again)} {stored(directory)}"


def calls(draw):
    """What is called, in words, and a function of a fresh directory"""
    for _ in range(COMMAND_LINES):
        words = command_line(draw)
        yield f"main {words}", lambda directory, words=words: start(words, directory)
    for _ in range(CONVERSATIONS):
        arguments, chunks = conversation(draw)
        yield f"{arguments} {chunks}", lambda directory, *, a=arguments, c=chunks: asyncio.run(talk(a, c, directory))
    for _ in range(MESSAGES):
        drawn = message(draw)
        yield f"message {drawn}", lambda directory, drawn=drawn: deliver(*drawn, directory)


def told(function):
    directory = Path(tempfile.mkdtemp())
    try:
        with logged() as lines:
            result = answer(lambda: function(directory))
        return f"{result} {lines}".replace(str(directory), "DIR")
    finally:
        shutil.rmtree(directory)


def test_drawn_calls():
    with drawn_calls() as (draw, call):
        for name, function in calls(draw):
            call("", name, lambda: told(function))
