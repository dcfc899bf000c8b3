"""Serves a city's register of trees by Datasette: python3 serve_app.py --port PORT --data DIRECTORY.

Where the directory has no `trees.db`, it is made anew.
"""

import argparse
import json
import random
import sqlite3
import sys
from pathlib import Path

SCHEMA = """
CREATE TABLE species (id INTEGER PRIMARY KEY, name TEXT NOT NULL, evergreen INTEGER NOT NULL);
CREATE TABLE trees (
    id INTEGER PRIMARY KEY,
    street TEXT NOT NULL,
    species_id INTEGER NOT NULL REFERENCES species(id),
    planted INTEGER NOT NULL,
    height REAL NOT NULL,
    note TEXT
);
CREATE TABLE gardeners (id INTEGER PRIMARY KEY, name TEXT NOT NULL, phone TEXT NOT NULL);
"""
SEED, FIRST, TREES = 7, 1, 260
SPECIES = ["Lime", "London plane", "Silver birch", "Scots pine", "Field maple", "Horse chestnut"]
STREETS = ["Elm Row", "Harbour Street", "Mill Lane", "Old Market", "Station Road"]
NOTES = ["leans", "bench around it", "planted by a school", None, None, None]
METADATA = {
    "title": "Trees of the city",
    "databases": {"trees": {"tables": {"gardeners": {"allow": {"id": "root"}}}}},
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Datasette with the register of trees")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--data", type=Path, default=Path("data"), help="where the database lies")
    options = parser.parse_args()
    options.data.mkdir(parents=True, exist_ok=True)
    database, metadata = options.data / "trees.db", options.data / "metadata.json"
    if not database.exists():
        fill(database)
    metadata.write_text(json.dumps(METADATA))

    from datasette.cli import cli

    sys.argv = ["datasette", "serve", "--immutable", str(database), "--metadata", str(metadata)]
    sys.argv += ["--host", "127.0.0.1", "--port", str(options.port)]
    cli()


def fill(path: Path) -> None:
    """Write the register: the same for the same seed."""
    chance = random.Random(SEED)
    rows = [
        (
            number,
            chance.choice(STREETS),
            FIRST + chance.randrange(len(SPECIES)),
            chance.randrange(1950, 2020),
            chance.randrange(20, 300) / 10,
            chance.choice(NOTES),
        )
        for number in range(FIRST, FIRST + TREES)
    ]
    with sqlite3.connect(path) as connection:
        connection.executescript(SCHEMA)
        connection.executemany(
            "INSERT INTO species VALUES (?, ?, ?)",
            [(FIRST + number, name, int("pine" in name)) for number, name in enumerate(SPECIES)],
        )
        connection.executemany("INSERT INTO trees VALUES (?, ?, ?, ?, ?, ?)", rows)
        connection.execute("INSERT INTO gardeners VALUES (1, 'Ms. Ortiz', '555 0199')")
    connection.close()


main()
