"""Serves a bicycle workshop's databases by sqlite-web: python3 serve_app.py --port PORT --data DIRECTORY.

Where the directory has no databases, they are made anew. The archive is opened for reading alone.
"""

import argparse
import random
import sqlite3
from pathlib import Path

STOCK = """
CREATE TABLE parts (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    shelf TEXT NOT NULL,
    price REAL NOT NULL,
    pieces INTEGER NOT NULL DEFAULT 0,
    note TEXT
);
CREATE TABLE suppliers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL, phone TEXT);
CREATE INDEX parts_shelf ON parts (shelf);
"""
ARCHIVE = "CREATE TABLE sales (id INTEGER PRIMARY KEY, day TEXT NOT NULL, part TEXT NOT NULL, pieces INTEGER NOT NULL);"
SEED, FIRST, PARTS, SALES = 5, 1, 130, 60
NAMES = ["Brake pad", "Chain", "Inner tube", "Pedal", "Saddle", "Spoke"]
NOTES = ["", "order in spring", "old model", None, None]
SUPPLIERS = [("Veldhuis", "Utrecht", "555 0140"), ("Orme & Daughter", "Leeds", None), ("Ruota", "Torino", "")]


def main() -> None:
    parser = argparse.ArgumentParser(description="sqlite-web with a workshop's databases")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--data", type=Path, default=Path("data"), help="where the databases lie")
    options = parser.parse_args()
    options.data.mkdir(parents=True, exist_ok=True)
    stock, archive = options.data / "stock.db", options.data / "archive.db"
    chance = random.Random(SEED)
    if not stock.exists():
        fill(stock, STOCK, {"parts": parts(chance), "suppliers": suppliers()})
    if not archive.exists():
        fill(archive, ARCHIVE, {"sales": sales(chance)})

    from sqlite_web.sqlite_web import app, dataset_config, datasets, initialize_app, initialize_dataset

    initialize_app([str(stock)])
    dataset_config["read_only"] = True
    kept = initialize_dataset(str(archive))
    datasets[kept.filename] = kept
    app.config["SEND_FILE_MAX_AGE_DEFAULT"] = 3600
    app.run(port=options.port, threaded=True)


def fill(path: Path, schema: str, tables: dict[str, list[tuple[object, ...]]]) -> None:
    with sqlite3.connect(path) as connection:
        connection.executescript(schema)
        for table, rows in tables.items():
            places = ", ".join("?" * len(rows[0]))
            connection.executemany(f"INSERT INTO {table} VALUES ({places})", rows)
    connection.close()


def parts(chance: random.Random) -> list[tuple[object, ...]]:
    return [
        (
            number,
            f"{chance.choice(NAMES)} {chance.randrange(10, 60)}",
            f"{chance.choice('ABC')}{chance.randrange(1, 9)}",
            chance.randrange(100, 9000) / 100,
            chance.randrange(40),
            chance.choice(NOTES),
        )
        for number in range(FIRST, FIRST + PARTS)
    ]


def suppliers() -> list[tuple[object, ...]]:
    return [(FIRST + number, *supplier) for number, supplier in enumerate(SUPPLIERS)]


def sales(chance: random.Random) -> list[tuple[object, ...]]:
    return [
        (number, f"2025-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}", chance.choice(NAMES), 1)
        for number in range(FIRST, FIRST + SALES)
    ]


main()
