"""Conversations, in one SQLite file."""

import json
import secrets
import sqlite3
from contextlib import closing, contextmanager

SCHEMA = """
create table if not exists conversations (
    id text primary key, system text, budget integer not null, used integer not null default 0);
create table if not exists messages (number integer primary key autoincrement, conversation text not null, told text not null);
create table if not exists notes (
    conversation text not null, name text not null, text text not null, primary key (conversation, name));
"""


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
            return db.execute(query, values).fetchall()

    def make(self, system, budget):
        name = secrets.token_hex(8)
        with self._changing() as db:
            db.execute("insert into conversations (id, system, budget) values (?, ?, ?)", (name, system, budget))
        return name

    def find(self, name):
        """Return a conversation without its messages; None without such a one."""
        found = self._rows("select * from conversations where id = ?", name)
        return dict(found[0]) if found else None

    def remove(self, name):
        with self._changing() as db:
            for table in ("messages", "notes"):
                db.execute(f"delete from {table} where conversation = ?", (name,))
            return db.execute("delete from conversations where id = ?", (name,)).rowcount > 0

    def messages(self, name):
        """Return its messages as the provider has them: with calls of tools and their results."""
        found = self._rows("select told from messages where conversation = ? order by number", name)
        return [json.loads(row["told"]) for row in found]

    def notes(self, name):
        found = self._rows("select name, text from notes where conversation = ? order by name", name)
        return {row["name"]: row["text"] for row in found}

    def spend(self, name, tokens):
        with self._changing() as db:
            db.execute("update conversations set used = used + ? where id = ?", (tokens, name))

    def keep(self, name, messages, notes):
        """Add messages and set notes, both or neither."""
        with self._changing() as db:
            told = [(name, json.dumps(message)) for message in messages]
            db.executemany("insert into messages (conversation, told) values (?, ?)", told)
            db.executemany("insert or replace into notes values (?, ?, ?)", [(name, *note) for note in notes.items()])
