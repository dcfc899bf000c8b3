"""Values that are drawn for each judging: addresses, codes and words, as they should be and not."""

import os
import random
import string

import pytest

CODE = string.ascii_letters + string.digits + "_-"
PATH = string.ascii_letters + string.digits + "-"


@pytest.fixture
def chance(request):
    """What a test draws by: other values in each judging, the same ones where a step runs again."""
    return random.Random(f"{os.environ['DRAW_SEED']} {request.node.name}")


def word(chance, least=3, most=9, of=string.ascii_lowercase):
    return "".join(chance.choices(of, k=chance.randint(least, most)))


def host(chance):
    return f"{word(chance)}.{word(chance)}.example"


def address(chance, more=""):
    scheme, port = chance.choice(["http", "https"]), chance.choice(["", f":{chance.randint(1024, 65535)}"])
    return f"{scheme}://{host(chance)}{port}/{word(chance, of=PATH)}{more}"


def code(chance, least=3, most=32):
    return word(chance, least, most, CODE)


NO_ADDRESSES = {
    "empty": lambda _: [""],
    "without a scheme": lambda chance: [host(chance), f"{host(chance)}/{word(chance)}", f"//{host(chance)}/"],
    "another scheme": lambda chance: [
        *(f"{scheme}://{host(chance)}/" for scheme in chance.sample(["ftp", "gopher", "ws", "file", "ssh"], 2)),
        f"{word(chance)}://{host(chance)}/",
        f"javascript:alert({chance.randint(0, 99)})",
        f"mailto:{word(chance)}@{host(chance)}",
    ],
    "no host": lambda chance: ["https://", "http://", f"{chance.choice(['http', 'https'])}:///{word(chance)}"],
}
NO_CODES = {
    "too short": lambda chance: ["", code(chance, 1, 1), code(chance, 2, 2)],
    "too long": lambda chance: [code(chance, 33, 33), code(chance, 34, 60)],
    "another character": lambda chance: [
        code(chance, 2, 9) + each + code(chance, 2, 9) for each in chance.sample(" /.!$+~@:,é", 6)
    ],
    "another letter": lambda chance: [code(chance, 2, 9) + chance.choice("éñüßжλ字") + code(chance, 2, 9)],
}
NO_PAGES = {
    "page": lambda chance: ["0", f"-{chance.randint(1, 99)}", word(chance)],
    "per_page": lambda chance: ["0", "101", str(chance.randint(102, 999)), f"{chance.randint(1, 9)}.5", word(chance)],
}
