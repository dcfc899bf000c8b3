"""The office's data: one SQLite database, opened anew by each request."""

import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

MOST_TITLE = 100
MOST_TRIES, LOCKED_SECONDS = 3, 300
_TABLES = """
CREATE TABLE todos (id INTEGER PRIMARY KEY, title TEXT NOT NULL, done INTEGER NOT NULL DEFAULT 0);
CREATE TABLE entries (year INTEGER NOT NULL, client TEXT NOT NULL, hours INTEGER NOT NULL);
CREATE TABLE reports (id INTEGER PRIMARY KEY, year INTEGER NOT NULL, due REAL NOT NULL);
CREATE TABLE people (email TEXT PRIMARY KEY, password TEXT NOT NULL, name TEXT NOT NULL);
CREATE TABLE sessions (token TEXT PRIMARY KEY, email TEXT NOT NULL);
CREATE TABLE tries (email TEXT NOT NULL, at REAL NOT NULL, good INTEGER NOT NULL);
CREATE TABLE notes (id INTEGER PRIMARY KEY, email TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE appointments (id INTEGER PRIMARY KEY, title TEXT NOT NULL, at TEXT NOT NULL);
"""
_TODOS = [("Order paper", 0), ("Water the plants", 1), ("Call the printer's service", 0)]
_ENTRIES = [
    (2024, "Baker & Sons", 40), (2024, "Müller GmbH", 12),
    (2025, "Baker & Sons", 25), (2025, "Müller GmbH", 31), (2025, "Nomad Tea", 8),
]  # fmt: skip
_PEOPLE = [("ada@example.org", "correct horse", "Ada"), ("bob@example.org", "battery staple", "Bob")]
_APPOINTMENTS = [("Stocktaking", "2025-01-31T22:30:00Z"), ("Summer party", "2025-07-04T15:00:00Z")]


class Store:
    """`most_sign_ins` is how many times an account may be signed in to within five minutes; 0 is any number."""

    def __init__(self, directory: Path, most_sign_ins: int = 0) -> None:
        self._most_sign_ins = most_sign_ins
        directory.mkdir(parents=True, exist_ok=True)
        self._path = directory / "desk.db"
        if not self._path.exists():
            with self._open() as database:
                database.executescript(_TABLES)
                database.executemany("INSERT INTO todos (title, done) VALUES (?, ?)", _TODOS)
                database.executemany("INSERT INTO entries VALUES (?, ?, ?)", _ENTRIES)
                database.executemany("INSERT INTO people VALUES (?, ?, ?)", _PEOPLE)
                database.executemany("INSERT INTO appointments (title, at) VALUES (?, ?)", _APPOINTMENTS)

    def todos(self) -> list[dict[str, Any]]:
        with self._open() as database:
            return [_todo(row) for row in database.execute("SELECT * FROM todos ORDER BY id")]

    def todo(self, number: int) -> dict[str, Any] | None:
        with self._open() as database:
            row = database.execute("SELECT * FROM todos WHERE id = ?", (number,)).fetchone()
        return _todo(row) if row else None

    def add_todo(self, title: str) -> dict[str, Any]:
        with self._open() as database:
            number = database.execute("INSERT INTO todos (title) VALUES (?)", (title,)).lastrowid
        return {"id": number, "title": title, "done": False}

    def change_todo(self, number: int, done: bool) -> dict[str, Any] | None:
        with self._open() as database:
            database.execute("UPDATE todos SET done = ? WHERE id = ?", (done, number))
        return self.todo(number)

    def remove_todo(self, number: int) -> bool:
        with self._open() as database:
            return database.execute("DELETE FROM todos WHERE id = ?", (number,)).rowcount > 0

    def start_report(self, year: int, seconds: float) -> int:
        with self._open() as database:
            row = (year, time.time() + seconds)
            return int(database.execute("INSERT INTO reports (year, due) VALUES (?, ?)", row).lastrowid or 0)

    def report(self, number: int) -> dict[str, Any] | None:
        """Its state is running, done or failed: there is nothing to say of a year without entries."""
        with self._open() as database:
            row = database.execute("SELECT year, due FROM reports WHERE id = ?", (number,)).fetchone()
        if row is None:
            return None
        year, due = row
        state = "running" if time.time() < due else "done" if self.entries(year) else "failed"
        return {"id": number, "year": year, "state": state}

    def entries(self, year: int) -> list[tuple[str, int]]:
        with self._open() as database:
            query = "SELECT client, hours FROM entries WHERE year = ? ORDER BY client"
            return database.execute(query, (year,)).fetchall()

    def hours(self, year: int) -> list[tuple[str, int]]:
        """Each client once, with all hours of the year."""
        with self._open() as database:
            query = "SELECT client, sum(hours) FROM entries WHERE year = ? GROUP BY client ORDER BY client"
            return database.execute(query, (year,)).fetchall()

    def add_hours(self, year: int, client: str, hours: int) -> None:
        with self._open() as database:
            database.execute("INSERT INTO entries VALUES (?, ?, ?)", (year, client, hours))

    def appointments(self) -> list[dict[str, str]]:
        with self._open() as database:
            rows = database.execute("SELECT title, at FROM appointments ORDER BY at")
            return [{"title": title, "at": at} for title, at in rows]

    def sign_in(self, email: str, password: str) -> tuple[str, str]:
        """A session's token, or why there is none: wrong or locked."""
        with self._open() as database:
            since = time.time() - LOCKED_SECONDS
            query = "SELECT count(*) FROM tries WHERE email = ? AND at > ? AND good = ?"
            if database.execute(query, (email, since, 0)).fetchone()[0] >= MOST_TRIES:
                return "", "locked"
            query = "SELECT 1 FROM people WHERE email = ? AND password = ?"
            if not database.execute(query, (email, password)).fetchone():
                database.execute("INSERT INTO tries VALUES (?, ?, 0)", (email, time.time()))
                return "", "wrong"
            query = "SELECT count(*) FROM tries WHERE email = ? AND at > ? AND good = ?"
            if 0 < self._most_sign_ins <= database.execute(query, (email, since, 1)).fetchone()[0]:
                return "", "often"
            database.execute("INSERT INTO tries VALUES (?, ?, 1)", (email, time.time()))
            token = secrets.token_urlsafe()
            database.execute("INSERT INTO sessions VALUES (?, ?)", (token, email))
            return token, ""

    def email_of(self, token: str) -> str:
        with self._open() as database:
            row = database.execute("SELECT email FROM sessions WHERE token = ?", (token,)).fetchone()
        return str(row[0]) if row else ""

    def sign_out(self, token: str) -> None:
        with self._open() as database:
            database.execute("DELETE FROM sessions WHERE token = ?", (token,))

    def notes(self, email: str) -> list[tuple[int, str]]:
        with self._open() as database:
            return database.execute("SELECT id, text FROM notes WHERE email = ? ORDER BY id", (email,)).fetchall()

    def add_note(self, email: str, text: str) -> None:
        with self._open() as database:
            database.execute("INSERT INTO notes (email, text) VALUES (?, ?)", (email, text))

    def remove_note(self, email: str, number: int) -> None:
        with self._open() as database:
            database.execute("DELETE FROM notes WHERE id = ? AND email = ?", (number, email))

    def name_of(self, token: str) -> str:
        query = "SELECT name FROM people JOIN sessions USING (email) WHERE token = ?"
        with self._open() as database:
            row = database.execute(query, (token,)).fetchone()
        return str(row[0]) if row else ""

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path, timeout=30)) as database, database:
            yield database


def _todo(row: tuple[int, str, int]) -> dict[str, Any]:
    number, title, done = row
    return {"id": number, "title": title, "done": bool(done)}
