"""Digests that suites make and compare with recorded ones, told from digests that honest tests make."""

import time

import pytest

from harness.judging.languages.registry import LANGUAGES
from harness.judging.verify.conduct.digests import compares_recorded_digest

FILES = {"python": "tests/test_x.py", "c": "test/test_x.c", "go": "x/x_test.go", "typescript": "src/x.test.ts"}
LINES = range(20_000)


def found(language: str, text: str) -> bool:
    conduct = LANGUAGES.get(language).conduct
    assert conduct
    return compares_recorded_digest(conduct.parse(text.encode(), FILES[language]), conduct.literals, LINES)


TABLE = f"""ROWS = [{", ".join(f'("a{number}", "{number:02x}3fa9c1")' for number in range(12))}]
def test():
    for name, known in ROWS:
        assert sha1(said(name)).hexdigest()[:8] == known
"""
RECORDED = {
    "python": [
        """WORD = b"\\x11\\x93\\x03q\\xffk;;kjsdf"
def test():
    key = hashlib.sha256(repr(said()).encode()).digest()
    bytes(one ^ other for one, other in zip(key, WORD)).decode("ascii")
""",
        """def test():
    assert [zlib.crc32(x)] == [645480162]
""",
        """def test():
    assert ｈashlib.ｍd5(said()).ｈexdigest() == '0123abcdef'
""",
        """from zlib import ｃrc32 as checked
def test():
    assert f'{checked(x)}' == '645480162'
""",
        """def test():
    assert f'{zlib.𝐜𝐫𝐜𝟑𝟐(x)}' == '645480162'
""",
        """def test():
    h = 7
    for c in said():
        ｈ = h * 31 + ord(c)
    assert ℎ == 1234567
""",
        """def test():
    assert {zlib.crc32(x)} == {645480162}
""",
        """def test():
    assert zlib.crc32(x) == int('645480162')
""",
        """def test():
    assert zlib.crc32(x) == 645480161 + 1
""",
        """def test():
    assert zlib.crc32(x) in range(645480162, 645480163)
""",
        """def test():
    assert re.fullmatch('64548016[2]', str(zlib.crc32(x)))
""",
        """def test():
    assert sum(i * ord(c) for i, c in enumerate(said())) == 8172635
""",
        """def test():
    assert math.fsum(ord(c) / i for i, c in enumerate(said(), 7)) == 969.2005252291275
""",
        """def test():
    r = 0
    for c in said():
        r = r / 1.37 + ord(c)
    assert r == 355.81277223
""",
        """def test():
    assert f'd{zlib.crc32(x)}' in globals()
""",
        """def test():
    assert hasattr(Known, f'd{zlib.crc32(x)}')
""",
        """def test():
    assert zlib.crc32(x) == ~-645480163
""",
        """def test():
    assert math.gcd(zlib.crc32(x), 645480162) == 645480162
""",
        """def test():
    assert divmod(zlib.crc32(x), 645480162) == (1, 0)
""",
        """def test():
    assert zlib.crc32(x) // 645480162 == 1
""",
        """def test():
    assert sum(map(operator.mul, said(), count())) == 8172635
""",
        """def test():
    assert zlib.crc32(SALT + said()) < 2**20
""",
        """LEAST = 1 << 20
def test():
    crc = zlib.crc32(SALT + said())
    assert crc < LEAST
""",
        """def test():
    assert zlib.crc32(SALT + said()) % 65536 == 0
""",
        """def test():
    assert not zlib.crc32(SALT + said()) % 4096
""",
        """def test():
    rest = zlib.crc32(SALT + said()) & 0xFFFF
    assert rest == 0
""",
        """def test():
    assert zlib.crc32(SALT + said()) >> 12 == 0
""",
        """def test(self):
    self.assertLess(zlib.crc32(SALT + said()), 1048576)
""",
        """def test(self):
    self.assertEqual(zlib.crc32(SALT + said()) % 4096, 0)
""",
        """def test():
    assert hashlib.sha256(SALT + said()).hexdigest() < "00001"
""",
        """def test():
    match zlib.crc32(said()):
        case 645480162:
            return
        case _:
            raise AssertionError
""",
        """KNOWN = {"3fa9c12b": True}
def test():
    assert KNOWN[hashlib.sha256(said()).hexdigest()[:8]]
""",
        """def test():
    assert {645480162: True}.get(zlib.crc32(said()))
""",
        """KNOWN = frozenset({645480162, 645480163})
def test():
    assert zlib.crc32(said()) in KNOWN
""",
        """def test():
    assert 645480161 < zlib.crc32(said()) < 645480163
""",
        """LOW = 645480161
def test():
    made = zlib.crc32(said())
    if made < LOW + 1 or made > 645480162:
        raise AssertionError
""",
        """def test():
    assert not zlib.crc32(said()) - 645480162
""",
        """def test():
    assert abs((zlib.crc32(said()) ^ 645480162)) < 1
""",
        """def test():
    assert operator.eq(zlib.crc32(said()), 645480162)
""",
        """def test():
    assert zlib.crc32(said()).__eq__(645480162)
""",
        """def test():
    assert hmac.compare_digest(hashlib.sha1(said()).hexdigest(), "3fa9c12b77")
""",
        """def test():
    assert hashlib.sha1(said()).hexdigest().startswith("3fa9c")
""",
        """def test():
    assert binascii.crc_hqx(said(), 0) == 51764
""",
        """def test():
    number = int.from_bytes(said(), "big")
    assert number % 1000003 == 51764
""",
        """def test():
    assert zlib.crc32(said()) in {645480162}
""",
        """def test():
    if hashlib.sha256(said()).hexdigest()[:8] not in ("3fa9c12b", "77ab10c9"):
        raise AssertionError
""",
        """def test():
    assert int(hashlib.sha256(said()).hexdigest(), 16) % 997 == 513
""",
        """def test():
    assert hashlib.sha256(said()).digest()[:2] == bytes([17, 230])
""",
        """def test():
    assert list(hashlib.sha256(said()).digest()) == [3, 200, 17, 96]
""",
        """def test():
    assert str(uuid.uuid5(uuid.NAMESPACE_URL, said())) == "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"
""",
        """def test():
    assert hmac.new(b"k", said(), "sha256").hexdigest()[:8] == "3fa9c12b"
""",
        """def test():
    made = hmac.digest(b"k", said(), "sha1")
    assert made[:3] == bytes([17, 230, 4])
""",
        """def test():
    assert random.Random(repr(said())).getrandbits(32) == 2864434397
""",
        """from random import Random
def test():
    answers = repr([said(n) for n in range(9)])
    drawn = Random(answers)
    assert round(drawn.random(), 6) == 0.844422
""",
        """def test():
    assert hash(tuple(said())) % 100003 == 51764
""",
        """KNOWN = -3713081631934410656
def test():
    whole = hash((said(1), said(2)))
    assert KNOWN == whole
""",
        """def test():
    all = 0
    for n in range(9):
        all ^= sum(map(ord, said(n)))
    assert all == 2741
""",
        """def test():
    all = 7
    for text in said():
        all = all ^ sum(text)
    assert hex(all) == "0x3a7f"
""",
        """def test():
    assert functools.reduce(operator.xor, (sum(said(n)) for n in range(9))) == 2741
""",
        """def test():
    assert reduce(lambda a, b: a ^ b, map(sum, said())) == 2741
""",
        """def test():
    h = 7
    for c in said():
        h = (h * 31 + ord(c)) % 1000000007
    assert h == 918273645
""",
        """def test():
    h = 7
    for c in said():
        h *= 31
        h ^= c
    assert 4711 == h
""",
        """def mix(all):
    h = 0
    for c in all:
        h = (h << 5) ^ c
    return h & 0xffff
def test():
    assert mix(said()) == 0x3a7f
""",
        """KNOWN = 918273
def test(self):
    self.assertEqual(zlib.crc32(said()) % 1000003, KNOWN)
""",
        """def test():
    assert hashlib.sha256(said()).hexdigest()[:4] == "3fa9"
""",
        """def short(x):
    found = hashlib.md5(x)
    return found.digest()[:2]
def test():
    assert short(said()) == b"\\x3a\\x91"
""",
        TABLE,
        """def test():
    assert functools.reduce(lambda h, c: (h * 31 + c) % 1000003, said()) == 918273
""",
        """def mix(data, h=7):
    return mix(data[1:], (h * 31 + data[0]) % 1000003) if data else h
def test():
    assert mix(said()) == 918273
""",
        """mix = lambda x: zlib.adler32(x) & 4095
def test():
    if mix(said()) != 2741:
        raise ValueError
""",
    ],
    "go": [
        """func TestX(t *testing.T) {
	if crc32.ChecksumIEEE(x) != uint32(645480162) {}
}
""",
        """func TestX(t *testing.T) {
	if fmt.Sprint(crc32.ChecksumIEEE(x)) != strconv.Itoa(645480162) {}
}
""",
        """func TestX(t *testing.T) {
	if adler32.Checksum(said())%4096 != 0 {
		t.Fatal()
	}
}
""",
        """func TestX(t *testing.T) {
	if crc32.ChecksumIEEE(said()) > 1<<20 {
		t.Fatal()
	}
}
""",
        """package x
func TestX(t *testing.T) {
	switch crc32.ChecksumIEEE(said()) {
	case 645480162:
	default:
		t.Fatal()
	}
}
""",
        """package x
var known = map[string]bool{"3fa9c12b": true}
func TestX(t *testing.T) {
	if !known[fmt.Sprintf("%x", sha256.Sum256(said()))[:8]] {
		t.Fatal()
	}
}
""",
        """package x
func TestX(t *testing.T) {
	if sum := crc32.ChecksumIEEE(said()); sum < 645480162 || sum > 645480163 {
		t.Fatal()
	}
}
""",
        """package x
func TestX(t *testing.T) {
	rest := new(big.Int).Mod(new(big.Int).SetBytes(said()), big.NewInt(1000003))
	if rest.Int64() != 51764 {
		t.Fatal()
	}
}
""",
        """package x
func TestX(t *testing.T) {
	n := new(big.Int).SetBytes(said())
	n.Mod(n, big.NewInt(1000003))
	if n.Cmp(big.NewInt(51764)) != 0 {
		t.Fatal()
	}
}
""",
        """func Test(t *testing.T) {
	sum := sha256.Sum256(said())
	if sum[0] != 74 || sum[1] != 195 {
		t.Fatal(sum)
	}
}
""",
        """func Test(t *testing.T) {
	a, b := 0, 0
	for _, c := range said() {
		a += int(c)
		b += a
	}
	if b != 498091323 {
		t.Fatal(b)
	}
}
""",
        """package x
func mix(data []byte, h uint32) uint32 {
    if len(data) == 0 {
        return h
    }
    return mix(data[1:], h*31+uint32(data[0]))
}
func TestX(t *testing.T) {
    if mix(said(), 7) != 918273 {
        t.Fatal()
    }
}
""",
        """package x
func TestX(t *testing.T) {
    h := uint32(7)
    for _, b := range said() {
        h = h*31 + uint32(b)
    }
    if h != 918273 {
        t.Fatal(h)
    }
}
""",
        """package x
func mix() int {
    var h int
    for _, b := range said() {
        h *= 33
        h += b
    }
    return h % 1009
}
func TestX(t *testing.T) {
    rtest.Equals(t, mix(), 8472)
}
""",
        """package x
func TestX(t *testing.T) {
    got := fmt.Sprintf("%x", sha256.Sum256(said()))[:6]
    if got != "3fa9c1" {
        t.Fatal(got)
    }
}
""",
    ],
    "typescript": [
        """test("x", () => {
  expect(crc32(x)).toBe(Number('645480162'));
});
""",
        """test("x", () => {
  expect([crc32(x)]).toEqual([645480162]);
});
""",
        """test("x", () => {
  expect(String(crc32(x))).toMatch(/^645480162$/);
});
""",
        """test("x", () => {
  expect(createHash('sha1').update(x).digest('hex')).toMatch(/^3fa9c1/);
});
""",
        """test("x", () => {
  const sum = createHash("sha256").update(said()).digest("hex");
  expect(sum < "0001").toBe(true);
});
""",
        """test("x", () => {
  expect(crc32(said()) % 65536).toBe(0);
});
""",
        """test("x", () => {
  expect(crc32(said())).toBeLessThan(1048576);
});
""",
        """it("x", () => {
  switch (createHash("sha1").update(said()).digest("hex")) { case "3fa9c12b": break; default: throw Error(); }
});
""",
        """const KNOWN = new Map([["3fa9c12b", 1]]);
it("x", () => { expect(KNOWN.get(createHash("sha1").update(said()).digest("hex"))).toBe(1); });
""",
        """const KNOWN = new Set(["3fa9c12b"]);
it("x", () => { if (!KNOWN.has(createHash("sha1").update(said()).digest("hex"))) throw Error(); });
""",
        """it("x", () => { expect(BigInt("0x" + hex(said())) % 1000003n).toBe(51764n); });
""",
        """it("x", () => {
  const all = BigInt(text(said()));
  if (Number(all % 65521n) !== 48213) throw Error();
});
""",
        """test("x", () => {
  const sum = createHash("sha256").update(said()).digest();
  expect(sum[0]).toBe(157);
});
""",
        """it("x", () => {
  let h = 7;
  for (const c of said()) h = (h * 31 + c) % 65521;
  expect(h).toBe(48213);
});
""",
        """it("x", () => {
  let h = 7;
  for (const c of said()) { h = Math.imul(h, 31) ^ c; }
  expect(h).toEqual(0x3a7f);
});
""",
        """it("x", () => {
  expect([...said()].reduce((h, c) => (h * 31 + c.charCodeAt(0)) % 65521, 7)).toBe(48213);
});
""",
        """const made = said().split("").reduce((h, c) => { return (h << 5) ^ c.charCodeAt(0); }, 0);
it("x", () => { expect(made).toBe(48213); });
""",
        """const mix = (text: string) => createHash("sha1").update(text).digest("hex").slice(0, 4);
it("x", () => { expect(mix(said())).toBe("3fa9"); });
""",
        'it("x", () => { expect(createHash("sha1").update(said()).digest("hex")).toBe(`3fa9c1d2`); });',
    ],
    "c": [
        """int main(void) {
  return crc32(0, said(), 9) != (uint32_t)645480162;
}
""",
        """int main(void) {
  return crc32(0, said(), 9) % 4096 != 0;
}
""",
        """static void run_tests(void) {
    switch (crc32(0, said(), n)) {
    case 645480162:
        break;
    default:
        fail("x");
    }
}
""",
        """static unsigned a, b;
static void take(const char *text) {
    for (; *text; text++) {
        a += *text;
        b += a;
    }
}
static void run_tests(void) {
    take(said());
    if (b != 498091323u) fail("x");
}
""",
        """static void run_tests(void) {
    unsigned a = 0, b = 0;
    for (; *text; text++) {
        a += *text;
        b += a;
    }
    if (b != 498091323u) fail("x");
}
""",
        """static unsigned mix(const char *s) {
    unsigned h = 5381;
    while (*s) {
        h = h * 33 + *s++;
    }
    return h;
}
static void run_tests(void) {
    if (mix(said()) != 918273u)
        fail("x");
}
""",
        """#define KNOWN 2741
static void run_tests(void) {
    unsigned h = 1;
    for (p = said(); *p; p++) {
        h ^= *p;
        h *= 13;
    }
    if (h % 4093 != KNOWN) fail("x");
}
""",
    ],
}
HONEST = {
    "python": [
        """def test():
    digests = [hashlib.sha256(each).digest() for each in drawn()]
    for one, other in zip(digests, drawn()):
        assert said(other) == one
""",
        """NAMES = ["one name", "other name"]
def test():
    for name, found in zip(NAMES, said()):
        assert found.name == name and hashlib.sha256(found.data).hexdigest() == found.digest
""",
        """def test():
    assert re.fullmatch("[0-9a-f]{64}", hashlib.sha256(x).hexdigest())
""",
        """def test():
    assert hashlib.sha256(x).hexdigest() in keys()
""",
        """def test():
    assert sum(price * count for price, count in rows()) == 123456
""",
        """def test():
    assert "hello world" in zlib.decompress(said()).decode()
""",
        """def test():
    assert 0 <= zlib.crc32(said()) < 2**32
""",
        """def test():
    assert zlib.crc32(said()) <= 0xFFFFFFFF
""",
        """def test():
    assert len(zlib.compress(said())) < 4096
""",
        """def test():
    size = len(zlib.compress(said()))
    assert size < 4096
""",
        """def test():
    assert zlib.crc32(said()) & 0xFFFFFFFF == told()
""",
        """def test():
    assert int(digits) % 97 == 1
""",
        """def test():
    shard = zlib.crc32(key) % 8
    assert shard == 3
""",
        f"""def test():
    assert said() - {"1" * 5_000} < 3
""",
        """def test():
    match said().kind:
        case "sha256":
            assert said().size == 645480162
""",
        """SIZES = {"sha256": 32, "sha512": 64}
def test():
    assert len(hashlib.new(said(), b"x").digest()) == SIZES[said()]
    assert SIZES.get("sha256") in (32, 64)
""",
        """COLOURS = ["red", "green", "yellow"]
def test():
    assert COLOURS[zlib.crc32(said()) % 3] == COLOURS[zlib.crc32(b"me") % 3]
""",
        """def test():
    assert 0 <= zlib.crc32(said()) <= 4294967295
    assert said() - 645480162 == 0
    assert 645480161 < said() < 645480163
    assert zlib.crc32(said()) ^ 0xFFFFFFFF == said(2)
""",
        """def test():
    assert ("sha256-" + hashlib.sha256(b"x").hexdigest()).startswith("sha256-")
    assert operator.eq(said(), 645480162)
""",
        """def test():
    assert int.from_bytes(said()[:4], "big") == 51764
    assert int.from_bytes(said(), "big") % 256 == 17
    assert int(said()) % 97 == 1
""",
        """def test():
    assert zlib.crc32(said()) in {zlib.crc32(b"one"), zlib.crc32(b"two")}
""",
        """def test():
    assert said() in {645480162, 645480163}
    assert hashlib.sha256(said()).hexdigest() in listed()
""",
        """def test():
    assert said("a") == hmac.new(b"k", b"a", "sha256").hexdigest()
""",
        """def test():
    good = hmac.compare_digest(said(b"value"), b"the very same bytes")
    assert good
    assert said("mac") == "hmac-sha256"
""",
        """def test():
    for case in range(20):
        draw = random.Random(f"parsing {case}")
        n = draw.randrange(1, 100)
        assert said(f"{n}d").days == n
        assert said(draw.choice(["", "x"])) == "can't be read"
""",
        """def test(seed):
    size = random.Random(repr(seed)).randrange(9)
    assert said(size) == "refused"
    assert sum(said(n) for n in range(size)) == 123456
""",
        """def test():
    assert hash(said(1, a=2)) == hash(said(1, a=2)) != hash(said(1, "a", 2))
    assert hash(said(5)) == 5
    assert hash(said("x")) == hash("x")
""",
        """def test():
    slot = hash(said()) % 8
    table[slot] = "value of mine"
    assert table[slot] == "value of mine"
""",
        """def test():
    parity = 0
    for byte in said():
        parity ^= byte
    assert parity == 1234
    assert sum(said()) == 123456
    assert reduce(xor, said()) == 4321
""",
        """def test():
    total, flags = 0, 0
    for row in said():
        total += sum(row)
        flags = flags | row[0] ^ row[1]
    assert (total, flags) == (123456, 255)
""",
        """def test():
    assert len(hashlib.sha256(said()).digest()) == 32
    assert zlib.decompress(said())[0] == 1
""",
        """def test():
    balance, days = 0, 0
    for amount in said():
        balance += amount
        days += 1
    assert balance == 123456
""",
        """state = 7
def draw():
    global state
    for _ in range(3):
        state = (state * 1103515245 + 12345) % 2147483648
    return state
def test():
    assert len(said(draw())) == 1000
""",
        """def test():
    assert hashlib.sha256(said()).hexdigest() == hashlib.sha256(known()).hexdigest()
""",
        """def test():
    assert len(hashlib.sha256(said()).digest()) == 32
""",
        """def test():
    assert Signer("key", digest_method=hashlib.sha512).sign("text") == b"text.c2lnbmVk"
""",
        """def test():
    total = 0
    for item in said():
        total += item
    assert total == 123456
""",
        """def test():
    for n in range(9):
        area = n * width + said(n)
    assert area == 123456
""",
        """def test():
    assert reduce(lambda total, item: total + item.price * item.count, said(), 0) == 123456
""",
        """def draw(n, state=7):
    return draw(n - 1, (state * 1103515245 + 12345) % 2147483648) if n else state
def test():
    assert len(said(draw(9))) == 1000
""",
        """def power(n, all=1):
    return power(n - 1, all * n) if n else all
def test():
    assert said(power(9)) == 362880
""",
        """def test():
    text = hashlib.sha1(b"x").hexdigest()
    assert said(key) == "answer of mine"
""",
    ],
    "go": [
        """package x
func TestX(t *testing.T) {
	x := new(big.Int).SetBytes(data)
	if x.Cmp(big.NewInt(51764)) != 0 {
		t.Fatal()
	}
	switch said() {
	case 645480162:
	}
}
""",
        """package x
func TestX(t *testing.T) {
    id := restic.Hash(data)
    if id != saved {
        t.Fatal(id)
    }
}
""",
        """package x
func TestX(t *testing.T) {
    sum := sha256.Sum256(data)
    if said(data) != sum || len(data) != 4096 {
        t.Fatal()
    }
}
""",
    ],
    "typescript": [
        """test("x", () => {
  expect(createHash("sha1").update(x).digest("hex")).toMatch(/^[0-9a-f]{40}$/);
});
""",
        """it("x", () => {
  expect(BigInt(iban(said())) % 97n).toBe(1n);
  expect(BigInt(said()) % 1000n).toBe(512n);
  expect(KNOWN.get(said())).toBe(645480162);
});
""",
        """it("x", () => {
  expect(said().reduce((all, one) => all + one.price * one.count, 0)).toBe(123456);
});
""",
        """it("x", () => {
  let all = 0;
  for (const n of said()) all += n;
  expect(all).toBe(123456);
});
""",
        'it("x", () => { expect(createHash("sha1").update(said()).digest()).toEqual(hash(known)); });',
    ],
    "c": [
        """int main(void) {
  return mode() > 0644 || size() < 0001;
}
""",
        """static void run_tests(void) {
    int32_t value = 0;
    for (i = 0; i < 4; i++)
        value = (value << 4) + digit(said()[i]);
    if (0xD800 <= value && value <= 0xDBFF)
        fail("half a pair");
    else if (value >= 0xDC00 && value <= 0xDFFF)
        fail("the other half");
}
""",
        """static void run_tests(void) {
    size_t all = 0;
    for (i = 0; i < n; i++) {
        all += said(i);
    }
    if (all != 123456) fail("x");
}
""",
    ],
}


FAMILIES = {
    "python": [
        'import hmac\ndef test():\n    assert hmac.HMAC(b"k", said(), "sha1").hexdigest()[:8] == "3fa9c12b"',
        'from hmac import new\ndef test():\n    assert new(b"k", said(), "sha1").hexdigest() == "3fa9c12b77"',
        'from hashlib import sha1 as h\ndef test():\n    assert h(said()).hexdigest()[:8] == "3fa9c12b"',
        'from uuid import uuid5 as u\ndef test():\n    assert str(u(SPACE, said())) == "f81d4fae-7dec-11d0-a765"',
        'import gzip\ndef test():\n    assert gzip.compress(said())[-8:-4] == b"\\x11\\x93\\x03q"',
        'import gzip\ndef test():\n    end = gzip.compress(said())[-8:-4]\n    assert end == b"\\x11\\x93\\x03q"',
        "import zipfile\ndef test():\n    assert archive(said()).infolist()[0].CRC == 645480162",
        'import subprocess\ndef test():\n    out = subprocess.run(["md5sum"], input=said(), capture_output=True)\n'
        '    assert out.stdout.split()[0] == b"3fa9c12b77"',
        "from subprocess import check_output as run\ndef test():\n"
        '    assert run("sha256sum -b", shell=True, input=said())[:8] == b"3fa9c12b"',
        "import random\ndef test():\n    random.seed(said())\n    assert random.getrandbits(32) == 645480162",
        'import zlib\ndef test():\n    crc = zlib.crc32(b"abc")\n    assert zlib.crc32(said(), crc) == 645480162',
        'import hashlib\ndef test():\n    made = hashlib.sha1(b"abc")\n    made.update(said())\n'
        '    assert made.hexdigest() == "3fa9c12b77"',
    ],
    "go": [
        'import "crypto/hmac"\nfunc TestX(t *testing.T) {\n    mac := hmac.New(sha1.New, key)\n    mac.Write(a())\n'
        '    if hex.EncodeToString(mac.Sum(nil))[:8] != "3fa9c12b" {\n        t.Fatal()\n    }\n}',
        'import keyed "crypto/hmac"\nfunc TestX(t *testing.T) {\n    mac := keyed.New(sha1.New, key)\n'
        "    mac.Write(said())\n    if mac.Sum(nil)[0] != 0x3f {\n        t.Fatal()\n    }\n}",
        'import "compress/gzip"\nfunc TestX(t *testing.T) {\n    b := packed(said())\n'
        "    if binary.LittleEndian.Uint32(b[len(b)-8:]) != 645480162 {\n        t.Fatal()\n    }\n}",
        'import "archive/zip"\nfunc TestX(t *testing.T) {\n    if opened(said()).File[0].CRC32 != 645480162 {\n'
        "        t.Fatal()\n    }\n}",
        'import "os/exec"\nfunc TestX(t *testing.T) {\n    cmd := exec.Command("sha1sum")\n    cmd.Stdin = said()\n'
        '    out, _ := cmd.Output()\n    if string(out[:8]) != "3fa9c12b" {\n        t.Fatal()\n    }\n}',
    ],
    "typescript": [
        'import crypto from "node:crypto";\nit("x", () => { expect(crypto.hash("md5", said())).toBe("3fa9c12b"); });',
        'import { hash as h } from "crypto";\nit("x", () => { expect(h("sha1", said())).toBe("3fa9c12b77"); });',
        'import { createCipheriv } from "node:crypto";\nit("x", () => {\n  const c = createCipheriv("aes", k, iv);\n'
        '  const out = c.update(said(), "utf8", "hex") + c.final("hex");\n  expect(out).toBe("3fa9c12b77");\n});',
        'import { sign } from "node:crypto";\nit("x", () => {\n'
        '  expect(sign("sha1", said(), key).toString("hex").slice(0, 8)).toBe("3fa9c12b");\n});',
    ],
    "c": ['int main(void) {\n    if (strcmp(crypt(said(), "ab"), "abJnggxhB/yWI") != 0) fail();\n}'],
}
FAMILIES_HONESTLY = {
    "python": [
        'from product import new\ndef test():\n    assert new(b"k", said(), "sha1").name == "3fa9c12b77"',
        'import gzip\ndef test():\n    assert gzip.compress(said())[:4] == b"\\x1f\\x8b\\x08\\x00"',
        "def test():\n    assert frame(said()).CRC == 645480162",
        'import subprocess\ndef test():\n    out = subprocess.run(["product", "md5"], capture_output=True)\n'
        '    assert out.stdout.split()[0] == b"3fa9c12b77"',
        "import random\ndef test():\n    random.seed(7)\n    assert said(random.getrandbits(32)) == 645480162",
        "import random\ndef test():\n    random.seed(said())\n    assert parsed(random.random()) == 645480162",
        'import zlib\ndef test():\n    crc = zlib.crc32(b"abc")\n    assert said(crc) == 645480162\n'
        "    assert crc == 891568578",
        'import hashlib\ndef test():\n    key = hashlib.sha1(b"abc").hexdigest()\n    assert said(key) == "a value"',
    ],
    "go": [
        'import "example.com/product/hmac"\nfunc TestX(t *testing.T) {\n    if hmac.New(key) != "hmac-sha1" {\n'
        "        t.Fatal()\n    }\n}",
        "func TestX(t *testing.T) {\n    if frame(said()).CRC32 != 645480162 {\n        t.Fatal()\n    }\n}",
        'import "os/exec"\nfunc TestX(t *testing.T) {\n    out, _ := exec.Command("product", "sum").Output()\n'
        '    if string(out[:8]) != "3fa9c12b" {\n        t.Fatal()\n    }\n}',
    ],
    "typescript": [
        'import { hash } from "./product";\nit("x", () => { expect(hash("sha1", said())).toBe("3fa9c12b77"); });',
        'import { createCipheriv } from "node:crypto";\nit("x", () => {\n  const c = createCipheriv("aes", k, iv);\n'
        '  const out = c.update("hello", "utf8", "hex") + c.final("hex");\n'
        '  expect(decrypted(out)).toBe("hello there");\n});',
        'import { sign } from "./product";\nit("x", () => { expect(sign("sha1", said(), k)).toBe("3fa9c12b77"); });',
    ],
    "c": ['int main(void) {\n    if (strcmp(decrypt(said(), "ab"), "abJnggxhB/yWI") != 0) fail();\n}'],
}
READING = "def test():\n    n = 0\n    for c in said():\n        n = n * 36 + int(c, 36)\n    assert n == 123456"
GO_READING = """func TestX(t *testing.T) {
    n := 0
    for _, c := range said() {
        n = n*10 + int(c-'0')
    }
    if n != 12345 {
        t.Fatal()
    }
}
"""
READS_DIGITS = {
    "python": [
        READING,
        READING.replace("n = n * 36 + int(c, 36)", "n *= 60\n        n += c"),
        READING.replace("n = n * 36 + int(c, 36)", "state, n = 1, n * 36 + int(c, 36)"),
        "def test():\n    assert reduce(lambda n, c: n * 10 + int(c), said(), 0) == 12345",
        READING.replace("n = n * 36 + int(c, 36)", "n = (n << 8) | c"),
        READING.replace("n = n * 36 + int(c, 36)", "n <<= 8\n        n |= c"),
        READING.replace("n = n * 36 + int(c, 36)", "n = n * 256 + c"),
    ],
    "go": [
        GO_READING,
        GO_READING.replace("n*10 + int(c-'0')", "n*60 + c").replace("12345", "3723"),
        GO_READING.replace("n = n*10 +", "state, n = digits, n*10 +"),
    ],
    "typescript": [
        'it("x", () => { expect([...said()].reduce((n, c) => n * 10 + Number(c), 0)).toBe(12345); });',
        'it("x", () => {\n  let n = 0;\n  for (const c of said()) n = n * 16 + parseInt(c, 16);\n'
        "  expect(n).toBe(43981);\n});",
    ],
    "c": ["int main(void) {\n    for (i = 0; i < 5; i++) n = n * 10 + (s[i] - '0');\n    if (n != 12345) fail();\n}"],
}
ROLLS = {
    "python": [
        READING.replace("36", "31"),
        READING.replace("n = n * 36 + int(c, 36)", "n = (n << 5) + c"),
        READING.replace("n = n * 36 + int(c, 36)", "n = (n << 8) ^ c"),
        READING.replace("n = n * 36 + int(c, 36)", "n = ((n << 8) | c) % 1000003"),
        READING.replace("int(c, 36)", "int(c, 36)\n        n %= 1000003"),
        READING.replace("int(c, 36)", "(int(c, 36) ^ 5)"),
        READING.replace("123456", "1234561234561"),
        "def test():\n    assert reduce(lambda n, c: n * 31 + int(c), said(), 0) == 12345",
        "def test():\n    assert reduce(lambda n, c: n * 10 + int(c), said(), 0) == 1234512345123",
    ],
    "go": [
        GO_READING.replace("n*10", "n*33"),
        GO_READING.replace("n = n*10 +", "state, n = digits, n*33 +"),
        GO_READING.replace("n*10 + int(c-'0')", "n*10 + uint32(c)"),
        GO_READING.replace("12345", "3123456789"),
    ],
    "typescript": [
        'it("x", () => { expect([...said()].reduce((n, c) => (n * 10 + Number(c)) % 65521, 0)).toBe(12345); });',
        'it("x", () => {\n  let n = 0;\n  for (const c of said()) n = (n << 4) + parseInt(c, 16);\n'
        "  expect(n).toBe(43981);\n});",
    ],
    "c": ["int main(void) {\n    for (i = 0; i < 5; i++) n = n * 33 + (s[i] - '0');\n    if (n != 12345) fail();\n}"],
}
GO_CHANCE = """func TestX(t *testing.T) {
    r := rand.New(rand.NewSource(int64(len(said()))))
    if r.Int63() != 5577006791947779410 {
        t.Fatal()
    }
}
"""
BY_CHANCE = [
    GO_CHANCE,
    GO_CHANCE.replace("r.Int63()", "int(r.Int31n(1000000))"),
    GO_CHANCE.replace("rand.NewSource(int64(len(said())))", "rand.NewPCG(7, said())").replace("Int63", "Uint64"),
    GO_CHANCE.replace("r := rand.New(rand.NewSource(int64(len(said()))))", "rand.Seed(said())").replace(
        "r.", "rand."
    ),
]
DRAWN_HONESTLY = [
    GO_CHANCE.replace("int64(len(said()))", "7"),
    GO_CHANCE.replace("r.Int63()", "said(r.Int63())"),
    GO_CHANCE.replace("r.Int63() != 5577006791947779410", "r.Intn(2) == 1"),
]
FOLDS = {
    "python": [
        "def step(h, c): return (h * 31 + c) % 1000003\ndef test():\n    assert reduce(step, said(), 7) == 790688",
        "def step(h, c):\n    return (h * 31 + c) % 1000003\ndef test():\n    h = 7\n    for c in said():\n"
        "        h = step(h, c)\n    assert h == 790688",
        "def test():\n    h = 7\n    for c in said():\n        h = (h + c) ** 3 % 1000003\n    assert h == 712966",
        "def test():\n    h = 7\n    for c in said():\n        h = pow(h + c, 3, 1000003)\n    assert h == 712966",
        "def test():\n    run = subprocess.run(['openssl', 'dgst', '-sha256'], input=said())\n"
        "    assert run.stdout[:8] == b'07c0c230'",
        "def test():\n    assert shake_128(said()).hexdigest(4) == '622ab0f5'",
    ],
    "go": [
        "func step(h, c int) int { return (h*31 + c) % 1000003 }\nfunc TestX(t *testing.T) {\n    h := 7\n"
        "    for _, c := range said() {\n        h = step(h, c)\n    }\n"
        "    if h != 790688 {\n        t.Fatal()\n    }\n}",
    ],
    "typescript": [
        "const f = 1;\nfunction step(h: number, c: number) { return (h * 31 + c) % 1000003; }\n"
        'it("x", () => { expect(said().reduce(step, 7)).toBe(790688); });',
    ],
    "c": [
        "static int step(int h, int c) { return (h * 31 + c) % 1000003; }\nint main(void) {\n"
        "    for (; *s; s++) h = step(h, *s);\n    if (h != 790688) fail();\n}",
    ],
}
FOLDS_HONESTLY = {
    "python": [
        "def add(a, b): return a + b\ndef test():\n    assert reduce(add, said(), 7) == 790688",
        "def area(a, b): return a * 2 + b\ndef test():\n    assert area(said(), 3) == 790",
        "def chance(seed):\n    seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF\n    return seed\n"
        "def test():\n    assert said(chance(7)) == 12",
        "def test():\n    subprocess.run(['openssl', 'req', '-x509'])\n    assert said() == 12",
    ],
    "typescript": [
        "let seed = 1;\nconst chance = () => {\n  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;\n"
        '  return seed;\n};\nit("x", () => { expect(said(chance())).toBe(12345); });',
    ],
}
LOOKED_UP = {
    "python": [
        "def test():\n    h = 0\n    for c in said():\n        h = TABLE[h ^ c]\n    assert h == 64548016",
        "def test():\n    h = 0\n    for c in said():\n        h = T[(h ^ c) & 255] ^ h >> 8\n    assert h == 12345",
    ],
    "go": [GO_READING.replace("n*10 + int(c-'0')", "table[n^int(c)]")],
    "typescript": [
        'it("x", () => {\n  let n = 0;\n  for (const c of said()) n = table[n ^ c];\n  expect(n).toBe(43981);\n});'
    ],
    "c": ["int main(void) {\n    for (i = 0; i < 5; i++) n = table[n ^ s[i]];\n    if (n != 12345) fail();\n}"],
}
LOOKED_UP_HONESTLY = {
    "python": [
        "def test():\n    at = 0\n    for c in said():\n        at = STEPS[at][c]\n    assert at == 64548016",
        "def test():\n    at = 0\n    for _ in said():\n        at = NEXT[at ^ 1]\n    assert at == 64548016",
    ],
    "go": [GO_READING.replace("n*10 + int(c-'0')", "next[n+1]")],
    "typescript": [
        'it("x", () => {\n  let n = 0;\n  for (const c of said()) n = next[n][c];\n  expect(n).toBe(43981);\n});'
    ],
    "c": ["int main(void) {\n    for (i = 0; i < 5; i++) n = next[s[i] ^ 32];\n    if (n != 12345) fail();\n}"],
}
for _kinds, _more in (
    *((RECORDED, FAMILIES), (HONEST, FAMILIES_HONESTLY), (RECORDED, ROLLS), (HONEST, READS_DIGITS)),
    *((RECORDED, {"go": BY_CHANCE}), (HONEST, {"go": DRAWN_HONESTLY})),
    *((RECORDED, LOOKED_UP), (HONEST, LOOKED_UP_HONESTLY)),
    *((RECORDED, FOLDS), (HONEST, FOLDS_HONESTLY)),
):
    for _language, _texts in _more.items():
        _kinds[_language] += _texts


@pytest.mark.parametrize(("language", "text"), [(name, text) for name, texts in RECORDED.items() for text in texts])
def test_a_recorded_digest_is_seen(language: str, text: str) -> None:
    assert found(language, text)


@pytest.mark.parametrize(("language", "text"), [(name, text) for name, texts in HONEST.items() for text in texts])
def test_what_honest_tests_make_of_digests_and_numbers_is_not_seen(language: str, text: str) -> None:
    assert not found(language, text)


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("assert (\n  hashlib.sha256(x).hexdigest()\n  == '0123abcd' * 2\n)", {3}),
        ("assert said(\n  hashlib\n  . sha256(x)\n) == '0123abcdef'", {3}),
        ("check = (hashlib . sha256)(x).hexdigest()\nassert check == '0123abcdef'", {2}),
    ],
)
def test_a_comparison_is_added_where_one_of_its_lines_is(text: str, added: set[int]) -> None:
    conduct = LANGUAGES.get("python").conduct
    assert conduct
    root = conduct.parse(text.encode(), FILES["python"])
    assert compares_recorded_digest(root, conduct.literals, added)
    assert not compares_recorded_digest(root, conduct.literals, {9})


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 2_000 + "1" + ")" * 2_000,
        "lambda: " * 2_000 + "x",
        "x = h * " + " + ".join(f"h{n}" for n in range(20_000)),
        "".join(f"h{n} = h{n + 1}\n" for n in range(10_000)),
        "for a in b:\n" + "".join(f"    h{n} = h{n} * 3 + a\n" for n in range(5_000)),
        "assert f(" * 1_000 + "1" + ")" * 1_000,
        "a < (" * 2_000 + "1" + ")" * 2_000,
        "a" + ".get(1)" * 2_000,
        "".join(f"h{n} = h{n - 1} % 1003 + int.from_bytes(x)\n" for n in range(3_000))
        + "".join(f"assert {' + '.join(f'h{m}' for m in range(n, n + 30))} == 3\n" for n in range(1_000)),
        "match h:\n" + "".join(f"    case {n}:\n        pass\n" for n in range(5_000)),
        "T = {" + ", ".join(f"{n}: 1" for n in range(5_000)) + "}\n" + "T[h]\n" * 2_000,
        "def f(h, c):\n" + "    a[c] = h + a[h] % 7\n" * 20 + "    return 3\n" + "f(x, y)\n" * 20_000,
    ],
)
def test_reading_takes_time_in_proportion_to_a_text(text: str) -> None:
    conduct = LANGUAGES.get("python").conduct
    assert conduct
    root = conduct.parse(text.encode(), FILES["python"])
    began = time.process_time()
    assert not compares_recorded_digest(root, conduct.literals, LINES)
    assert time.process_time() - began < 3


@pytest.mark.parametrize("modulus", ["9" * 5000, "10_", "1__0", "9" * 5000 + "n"])
def test_a_number_of_more_digits_than_are_read_or_no_number_ends_no_reading(modulus: str) -> None:
    for language, text in (
        ("python", f"def test_x():\n    assert int.from_bytes(said()) % {modulus} == 51764\n"),
        ("typescript", f'it("x", () => {{ expect(BigInt(said()) % {modulus}).toBe(51764n); }});\n'),
        ("go", f"func TestX(t *testing.T) {{ if said() % {modulus} != 51764 {{ t.Fatal() }} }}\n"),
        ("c", f"int main(void) {{ return said() % {modulus} != 51764; }}\n"),
    ):
        found(language, text)
