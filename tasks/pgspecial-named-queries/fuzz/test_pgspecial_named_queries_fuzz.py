import os
import pathlib
import random
import tempfile

import psycopg
from configobj import ConfigObj

from pgspecial.iocommands import NAMED_QUERY_PLACEHOLDERS, list_named_queries, subst_favorite_query_args
from pgspecial.main import PGSpecial
from pgspecial.namedqueries import NamedQueries

NAMES = ("q", "Q", "first", "first_two", "é", "a.b")
QUERIES = (
    "select 1",
    "select $1",
    "select '$1', $2",
    "select $2 - $1",
    "select array[$*]",
    "select array[$@]",
    "select $1, array[$*]",
    "select '$1' || '$2', array[$@]",
    "select $1, $3",
    "select '%s'",
    "select %s",
    "selec",
    "select $10, $1",
    "set work_mem = $1",
    "select '$*', '$@'",
)
VALUES = ("1", "22", "'a b'", '"c d"', "e", "''", "$1", "$*", "7", "3", "-4")
PATTERNS = ("", "f", "first", "^Q$", ".", "two$", "é", "(", "a\\.b")


def shown_error(error: BaseException) -> str:
    return f"{type(error).__name__} {error}"


def shown(results):
    """A result without its cursor: the rows are read from it."""
    return [
        (title, rows if rows is None or isinstance(rows, list) else list(rows), headers, status)
        for title, rows, headers, status in results
    ]


def line_of(draw):
    kind, name = draw.choice(("\\ns", "\\ns", "\\ns", "\\n", "\\n", "\\n", "\\n", "\\np", "\\nd", "list", "again")), draw.choice(NAMES)
    values = " ".join(draw.choices(VALUES, k=draw.randrange(5)))
    rest = {
        "\\ns": draw.choice((f"{name} {draw.choice(QUERIES)}", f"{name} {draw.choice(QUERIES)}", name, "")),
        "\\n": draw.choice((f"{name} {values}", f"{name} {values}", "")),
        "\\np": draw.choice(PATTERNS),
        "\\nd": draw.choice((name, "")),
    }
    return f"{kind} {rest.get(kind, '')}".strip()


def session(cursor, path, lines):
    told = []
    NamedQueries.instance = NamedQueries.from_config(ConfigObj(path, encoding="utf-8"))
    for line in ("\\ns start select 1", *lines):
        try:
            if line == "again":
                NamedQueries.instance = NamedQueries.from_config(ConfigObj(path, encoding="utf-8"))
                result = dict(NamedQueries.instance.list())
            elif line == "list":
                result = shown(list_named_queries(False))
            else:
                result = shown(PGSpecial().execute(cursor, line))
        except Exception as error:
            result = shown_error(error)
        told.append((line, result, pathlib.Path(path).exists() and pathlib.Path(path).read_text()))
    return told


def test_fuzz_named_queries():
    """Calls the code on drawn inputs, each of them twice, and writes down what it answers."""
    draw = random.Random(int(os.environ["TESTWRIGHT_FUZZ_SEED"]))
    connection = psycopg.connect(user="postgres", host="localhost", dbname="postgres", autocommit=True)
    lines = []

    def call(name, asked, function):
        for _ in range(2):
            try:
                result = repr(function())
            except Exception as error:
                result = shown_error(error)
            lines.append(f"{name}{ascii(asked)} => {ascii(result)}\n")

    def whole(asked):
        with tempfile.TemporaryDirectory() as folder, connection.cursor() as cursor:
            return session(cursor, os.path.join(folder, "config"), asked)

    for _ in range(40):
        asked = [line_of(draw) for _ in range(30)]
        call("session", asked, lambda: whole(asked))
    for _ in range(300):
        query = " ".join(draw.choices((*QUERIES, *NAMED_QUERY_PLACEHOLDERS_IN_ORDER, "$2", "$3"), k=2))
        args = draw.choices(("a", "b c", "", "$2", "$*"), k=draw.randrange(5))
        call("values", (query, args), lambda: subst_favorite_query_args(query, list(args)))

    with open(pathlib.Path(os.environ["TESTWRIGHT_REPORT_DIR"]) / "fuzz.txt", "a", encoding="utf-8") as report:
        report.writelines(lines)


NAMED_QUERY_PLACEHOLDERS_IN_ORDER = sorted(NAMED_QUERY_PLACEHOLDERS)
