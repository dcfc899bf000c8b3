import hashlib
import hmac
import random

from itsdangerous.encoding import base64_encode
from itsdangerous.serializer import Serializer
from itsdangerous.signer import HMACAlgorithm
from itsdangerous.signer import NoneAlgorithm
from itsdangerous.signer import Signer
from itsdangerous.signer import SigningAlgorithm
from itsdangerous.url_safe import URLSafeSerializer
from testwright_drawing import drawn_calls

KEYS = ("key", b"other", "д€", "", ["key"], ["old", "key"], ("oldest", b"old", "new"), ["new", "oldest"], [b"other", "key"])
SALTS = (None, "activate", b"reset", "", b"itsdangerous", "д€")
DIGESTS = (None, hashlib.md5, hashlib.sha1, hashlib.sha256, hashlib.sha512)
DERIVATIONS = (None, "concat", "django-concat", "hmac", "none", "hmca", "")
SEPARATORS = (".", b":", "/", "||")
VALUES = (None, True, 42, -1.5, "", "text", "д€ß", "a.b.c", [], [1, [2, None]], {"id": 42}, {"to": "x@example.org"}, "a" * 200)
TEXTS = ("value", b"value", "", "a.b", "д€ß", b"\xff\x00", "." * 3, '{"id":42}', "[1,2]")


class Reversed(SigningAlgorithm):
    def get_signature(self, key, value):
        return (key + value)[::-1]


class Former(Signer):
    default_digest_method = staticmethod(hashlib.md5)
    default_key_derivation = "concat"


def settings(draw: random.Random) -> dict:
    """Some of a signer's parameters."""
    chosen = {"digest_method": draw.choice(DIGESTS), "key_derivation": draw.choice((*DERIVATIONS[:5], *DERIVATIONS))}
    if draw.random() < 0.2:
        chosen["algorithm"] = draw.choice((None, HMACAlgorithm(), HMACAlgorithm(hashlib.sha256), Reversed()))
    return {name: value for name, value in chosen.items() if draw.random() < 0.8}


def signature(key, salt, derivation, digest, value: bytes) -> bytes:
    """What a signer comes to, made without it."""
    digest = digest or hashlib.sha1
    key = key.encode() if isinstance(key, str) else key
    derived = {
        "concat": lambda: digest(salt + key).digest(),
        "hmac": lambda: hmac.new(key, salt, digest).digest(),
        "none": lambda: key,
    }.get(derivation, lambda: digest(salt + b"signer" + key).digest())()
    return base64_encode(hmac.new(derived, value, digest).digest())


def changed(draw: random.Random, text: bytes) -> bytes:
    place = draw.randrange(len(text)) if text else 0
    return draw.choice((text[:place] + b"A" + text[place + 1 :], text[:-1], b"x" + text, text[:place], text.replace(b".", b"", 1), b""))


def shown_error(error: BaseException) -> str:
    parts = [type(error).__name__, str(error)]
    for name in ("payload", "original_error", "__cause__"):
        parts.append(repr(getattr(error, name, None)))
    return " ".join(parts)


def names(chosen: dict) -> dict:
    """Settings as text that is the same in every process."""
    return {name: getattr(value, "__name__", type(value).__name__) if callable(value) or name == "algorithm" else value
            for name, value in chosen.items()}  # fmt: skip


def test_fuzz_keys():
    """Calls the code on drawn inputs, each of them twice, and writes down what it answers."""
    with drawn_calls(shown_error) as (draw, call):
        for _ in range(60):
            keys, salt, value, text = draw.choice(KEYS), draw.choice(SALTS), draw.choice(VALUES), draw.choice(TEXTS)
            own, former = settings(draw), settings(draw)
            sep = draw.choice((".", ".", *SEPARATORS))
            how = (keys, salt, names(own), sep)
            fallbacks = draw.choice((None, [], [former], [Former], [(Former, former)], [former, Former], [{}, (Signer, former)]))
            shown = [item.__name__ if isinstance(item, type) else "tuple" if isinstance(item, tuple) else "dict" for item in fallbacks or []]
            several = [keys] if isinstance(keys, (str, bytes)) else list(keys)
            derivation, digest = draw.choice(DERIVATIONS[:5]), draw.choice(DIGESTS)
            other = draw.choice((salt, salt, *SALTS))

            def signer(kind=Signer):
                return kind(iter(keys) if isinstance(keys, tuple) else keys, salt=salt, sep=sep, **own)

            def service(kind=Serializer):
                return kind(keys, salt=salt, signer_kwargs=own, fallback_signers=fallbacks)

            content = text.encode() if isinstance(text, str) else text
            separator = sep.encode() if isinstance(sep, str) else sep
            plain = b"itsdangerous.Signer" if salt is None else salt.encode() if isinstance(salt, str) else salt
            signed = content + separator + signature(draw.choice((*several, "stolen")), plain, own.get("key_derivation"), own.get("digest_method"), content)
            foreign = content + b"." + signature(draw.choice(several), plain, former.get("key_derivation"), former.get("digest_method"), content)
            if draw.random() < 0.2:
                signed, foreign = changed(draw, signed), changed(draw, foreign)

            call("sign", (*how, text), lambda: signer().sign(text))
            call("sign former", (*how, text), lambda: signer(Former).sign(text))
            call("unsign", (*how, signed), lambda: signer().unsign(signed))
            call("validate", (*how, signed), lambda: (signer().validate(signed), signer().validate(signed.decode("latin-1")), signer().sign(text)))
            call("verify", (*how, signed), lambda: (signer().verify_signature(content, signed[len(content) + len(separator) :]), signer().sign(text)))
            call("derive", how, lambda: signer().derive_key())
            call("derive other", (*how, several[0]), lambda: signer().derive_key(several[0]))
            call("signature", (*how, text), lambda: signer().get_signature(text))
            call("newest", how, lambda: (signer().secret_key, service().secret_key, service().secret_keys))
            call("kept", how, lambda: [signer().secret_keys, signer().salt, signer().sep, signer().key_derivation, signer().digest_method is not None])
            call("algorithm", (text, derivation), lambda: (HMACAlgorithm(digest).get_signature(b"key", content), HMACAlgorithm().get_signature(content, b"text")))
            call("none", (text,), lambda: NoneAlgorithm().get_signature(b"key", content))
            call("equal", (text, derivation), lambda: [Reversed().verify_signature(b"k", content, end) for end in ((b"k" + content)[::-1], b"x") * 16])
            call("dumps", (*how, shown, value), lambda: service().dumps(value))
            call("dumps for", (*how, shown, value, other), lambda: service(URLSafeSerializer).dumps(value, salt=other))
            call("loads", (*how, shown, foreign), lambda: service().loads(foreign))
            call("loads for", (*how, shown, foreign, other), lambda: service().loads(foreign, salt=other))
            call("loads signed", (*how, shown, signed), lambda: service().loads(signed.decode("latin-1")))
            call("unsafe", (*how, shown, foreign), lambda: service().loads_unsafe(foreign, salt=other))
            call("signer", (*how, other), lambda: [vars(service().make_signer(other))[name] for name in ("secret_keys", "salt", "key_derivation")])
            call("unsigners", (*how, shown), lambda: [
                (type(item).__name__, item.secret_keys, item.salt, item.key_derivation) for item in service().iter_unsigners(other)])  # fmt: skip
