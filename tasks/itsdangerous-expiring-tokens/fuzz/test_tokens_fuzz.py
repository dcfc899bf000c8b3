import base64
import json
import random
import types
import zlib

from itsdangerous import timed
from itsdangerous.signer import Signer
from itsdangerous.timed import TimedSerializer
from itsdangerous.timed import TimestampSigner
from itsdangerous.url_safe import URLSafeSerializer
from itsdangerous.url_safe import URLSafeTimedSerializer
from testwright_drawing import drawn_calls

KEYS = ("key", b"other", ["old", "key"], ["oldest", "old", b"new"], "д€")
SALTS = (None, "activate", b"reset", b"itsdangerous")
VALUES = (
    None, True, 42, -1.5, "", "text", "д€ß", "a.b.c", [], [1, [2, None]], {"id": 42}, {"to": "x@example.org", "n": 7},
    "a" * 300, list(range(200)), {"long": ["word"] * 90}, "?~>" * 5,
)  # fmt: skip
AGES = (None, 0, 1, 10, 59, 60, 61, 3600, 10**7, 0.5, -1)
PASSED = (0, 1, 9, 10, 11, 59, 60, 61, 3599, 3600, 3601, 10**6, 10**8, -1, -60)
NOWS = (0, 1, 255, 256, 1_300_000_000, 1_700_000_000, 4_000_000_000)


def encoded(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def stamp(seconds: int) -> bytes:
    return encoded(seconds.to_bytes(8, "big").lstrip(b"\0"))


def content(draw: random.Random, value: object) -> bytes:
    """A payload as the URL-safe serializers write it, made without them, and sometimes one that can't be read."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return draw.choice(
        (encoded(text), encoded(text), encoded(text), b"." + encoded(zlib.compress(text)), b"." + encoded(text), text,
         b"", b"*", encoded(b"\xff\xfe"), encoded(b"{"))
    )  # fmt: skip


def changed(draw: random.Random, token: bytes) -> bytes:
    if not token:
        return b"."
    place = draw.randrange(len(token))
    return draw.choice(
        (
            token[:place] + b"A" + token[place + 1 :],
            token[:place] + token[place + 1 :],
            token + b"A",
            b"x" + token,
            token[:place],
            token.replace(b".", b"", 1),
            token.replace(b".", b"..", 1),
            token.upper(),
            b"",
            b"....",
        )
    )


def shown_error(error: BaseException) -> str:
    parts = [type(error).__name__, str(error)]
    for name in ("payload", "date_signed", "original_error", "__cause__"):
        parts.append(repr(getattr(error, name, None)))
    return " ".join(parts)


def test_fuzz_tokens(monkeypatch):
    """Calls the code on drawn inputs, each of them twice, and writes down what it answers."""
    clock = types.SimpleNamespace(now=0.0)
    monkeypatch.setattr(timed, "time", types.SimpleNamespace(time=lambda: clock.now))
    with drawn_calls(shown_error) as (draw, call):
        for _ in range(60):
            keys, salt, value = draw.choice(KEYS), draw.choice(SALTS), draw.choice(VALUES)
            made, passed, age = draw.choice(NOWS), draw.choice(PASSED), draw.choice(AGES)
            other = draw.choice((salt, salt, salt, *SALTS))
            signing = draw.choice((keys, keys, keys, *KEYS))
            payload = content(draw, value)
            dated = payload + draw.choice((b"." + stamp(made),) * 6 + (b"", b".!", b"." + stamp(10**12), b"."))
            token = Signer(signing, salt=other if other is not None else b"itsdangerous").sign(dated)
            if draw.random() < 0.3:
                token = changed(draw, token)
            clock.now = max(0, made + passed) + draw.random()
            how = (keys, salt, made, clock.now, age)

            urls = URLSafeTimedSerializer(keys, fallback_signers=draw.choice((None, [{"salt": "reset"}], [Signer])))
            if draw.random() < 0.6:
                urls = URLSafeTimedSerializer(keys)
            signer = TimestampSigner(keys, salt=salt)
            plain = TimedSerializer(keys, salt=salt)
            data = draw.choice((token, token.decode()))

            call("loads", (*how, data), lambda: urls.loads(data, max_age=age, salt=salt))
            call("loads dated", (*how, data), lambda: urls.loads(data, age, return_timestamp=True, salt=salt))
            call("unsafe", (*how, data), lambda: urls.loads_unsafe(data, max_age=age, salt=salt))
            call("unsign", (*how, data), lambda: signer.unsign(data, max_age=age))
            call("unsign dated", (*how, data), lambda: signer.unsign(data, age, True))
            call("validate", (*how, data), lambda: (signer.validate(data, max_age=age), signer.get_timestamp()))
            call("plain", (*how, data), lambda: plain.loads(data, max_age=age))
            call("sign", (keys, salt, clock.now, payload), lambda: signer.sign(payload))
            call("dumps", (keys, salt, clock.now, value), lambda: urls.dumps(value, salt=salt))
            call("untimed", (keys, salt, value), lambda: URLSafeSerializer(keys, salt=salt).dumps(value))
            call("payload", (payload,), lambda: urls.load_payload(payload))
            call("dump payload", (value,), lambda: urls.dump_payload(value))
            call("date", (made,), lambda: signer.timestamp_to_datetime(made))
            call("unsigners", (keys, salt), lambda: [(type(item).__name__, item.salt) for item in urls.iter_unsigners(salt)])
