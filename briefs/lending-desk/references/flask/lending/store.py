"""People, tools and loans, in one SQLite file."""

import hashlib
import hmac
import os
import sqlite3
from contextlib import closing, contextmanager

from lending.rules import DESK, MOST_TOOLS, Refused

SCHEMA = """
create table if not exists people (name text primary key collate nocase, salt blob not null, hash blob not null);
create table if not exists tools (id integer primary key, name text unique not null collate nocase);
create table if not exists loans (tool integer primary key, person text not null collate nocase, due text not null);
create table if not exists secrets (value blob not null);
"""
LOANS = "select tools.id, tools.name as tool, person, due from loans join tools on tools.id = loans.tool"


def hashed(password, salt):
    return hashlib.scrypt(password.encode(), salt=salt, n=2**12, r=8, p=1)


class Store:
    def __init__(self, path):
        self._path = path
        with closing(self._open()) as db:
            db.executescript(SCHEMA)
        with self._changing() as db:
            if not db.execute("select 1 from secrets").fetchone():
                db.execute("insert into secrets values (?)", (os.urandom(32),))

    def _open(self):
        db = sqlite3.connect(self._path, timeout=30, isolation_level=None)
        db.row_factory = sqlite3.Row
        return db

    @contextmanager
    def _changing(self):
        with closing(self._open()) as db:
            db.execute("begin immediate")
            try:
                yield db
            except BaseException:
                db.execute("rollback")
                raise
            db.execute("commit")

    def _rows(self, query, *values):
        with closing(self._open()) as db:
            return [dict(row) for row in db.execute(query, values)]

    def secret(self):
        return self._rows("select value from secrets")[0]["value"]

    def register(self, name, password):
        salt = os.urandom(16)
        if name.casefold() == DESK:
            raise Refused("This name is taken.", 409)
        try:
            with self._changing() as db:
                db.execute("insert into people values (?, ?, ?)", (name, salt, hashed(password, salt)))
        except sqlite3.IntegrityError:
            raise Refused("This name is taken.", 409) from None

    def knows(self, name, password):
        """Return the name as it was registered; None where name and password don't belong together."""
        for row in self._rows("select * from people where name = ?", name):
            if hmac.compare_digest(row["hash"], hashed(password, row["salt"])):
                return row["name"]
        return None

    def tools(self, part=""):
        query = "select id, name, due from tools left join loans on loans.tool = tools.id"
        found = [row for row in self._rows(query) if part.casefold() in row["name"].casefold()]
        return sorted(found, key=lambda row: row["name"].casefold())

    def add_tool(self, name):
        try:
            with self._changing() as db:
                db.execute("insert into tools (name) values (?)", (name,))
        except sqlite3.IntegrityError:
            raise Refused("This tool is there already.", 409) from None

    def borrow(self, tool, person, due, today):
        with self._changing() as db:
            own = [row["due"] for row in db.execute("select due from loans where person = ?", (person,))]
            if len(own) >= MOST_TOOLS:
                raise Refused(f"Nobody has more than {MOST_TOOLS} tools at a time.", 409)
            if any(each < today for each in own):
                raise Refused("Bring back what is overdue first.", 409)
            self._lend(db, tool, person, due)

    def _lend(self, db, tool, person, due):
        if not db.execute("select 1 from tools where id = ?", (tool,)).fetchone():
            raise Refused("There is no such tool.", 404)
        if db.execute("select 1 from loans where tool = ?", (tool,)).fetchone():
            raise Refused("This tool is on loan.", 409)
        db.execute("insert into loans values (?, ?, ?)", (tool, person, due))

    def record(self, tool, person, due):
        with self._changing() as db:
            known = db.execute("select name from people where name = ?", (person,)).fetchone()
            found = db.execute("select id from tools where name = ?", (tool,)).fetchone()
            if not known or not found:
                raise Refused("There is no such neighbour or tool.", 404)
            self._lend(db, found["id"], known["name"], due)

    def take_back(self, tool):
        with self._changing() as db:
            if not db.execute("delete from loans where tool = ?", (tool,)).rowcount:
                raise Refused("This tool is not on loan.", 404)

    def loans(self):
        return sorted(self._rows(LOANS), key=lambda row: (row["due"], row["tool"].casefold()))

    def loans_of(self, person):
        return self._rows(f"{LOANS} where person = ? order by due, tools.name", person)

    def overdue(self, today):
        return self._rows(f"{LOANS} where due < ? order by due, tools.name", today)
