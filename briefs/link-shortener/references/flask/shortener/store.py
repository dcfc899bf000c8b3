"""Links and visits, in one SQLite file."""

import sqlite3
from contextlib import closing, contextmanager

SCHEMA = """
create table if not exists links (
    number integer primary key autoincrement, code text unique not null, url text not null,
    visits integer not null default 0, max_visits integer);
create table if not exists referrers (
    link integer not null, host text not null, visits integer not null, primary key (link, host));
"""
COLUMNS = "code, url, visits, max_visits"


class Taken(Exception):
    pass


class UsedUp(Exception):
    pass


class Store:
    def __init__(self, path):
        self._path = path
        with closing(self._open()) as db:
            db.executescript(SCHEMA)

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

    def add(self, code, url, max_visits):
        try:
            with self._changing() as db:
                db.execute("insert into links (code, url, max_visits) values (?, ?, ?)", (code, url, max_visits))
        except sqlite3.IntegrityError:
            raise Taken(code) from None

    def find(self, code):
        return next(iter(self._rows(f"select {COLUMNS} from links where code = ?", code)), None)

    def visit(self, code, host):
        """Count a visit and return the address; None without such a link."""
        with self._changing() as db:
            link = db.execute("select number, url, visits, max_visits from links where code = ?", (code,)).fetchone()
            if link is None:
                return None
            if link["max_visits"] is not None and link["visits"] >= link["max_visits"]:
                raise UsedUp(code)
            db.execute("update links set visits = visits + 1 where number = ?", (link["number"],))
            db.execute(
                "insert into referrers values (?, ?, 1) on conflict do update set visits = visits + 1",
                (link["number"], host),
            )
            return link["url"]

    def remove(self, code):
        with self._changing() as db:
            db.execute("delete from referrers where link = (select number from links where code = ?)", (code,))
            return db.execute("delete from links where code = ?", (code,)).rowcount > 0

    def referrers(self, code):
        return self._rows(
            "select host, referrers.visits from referrers join links on link = number where code = ?"
            " order by referrers.visits desc, host",
            code,
        )

    def page(self, page, size):
        query = f"select {COLUMNS} from links order by number desc limit ? offset ?"
        return self._rows(query, size, (page - 1) * size)

    def total(self):
        return self._rows("select count(*) as total from links")[0]["total"]

    def top(self, limit):
        return self._rows(f"select {COLUMNS} from links order by visits desc, number limit ?", limit)
