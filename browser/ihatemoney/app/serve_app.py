"""Serves ihatemoney from an SQLite database: python3 serve_app.py --port PORT --data DIRECTORY.

Where the directory has no database, the application's own migrations make it, and it gets the books of Meadow Lane.
"""

import argparse
import os
from datetime import date
from pathlib import Path

SETTINGS = """\
SQLALCHEMY_DATABASE_URI = "sqlite:///{database}"
SECRET_KEY = "of this server"
SESSION_COOKIE_SECURE = False
MAIL_SUPPRESS_SEND = True
SEND_FILE_MAX_AGE_DEFAULT = 3600
"""
PEOPLE = [("Ada", 1), ("Bram", 2), ("Chloe", 1)]
BILLS = [
    ("Rent of March", "Ada", 900, ["Ada", "Bram", "Chloe"], date(2026, 3, 1)),
    ("Vegetables", "Chloe", 36.5, ["Ada", "Chloe"], date(2026, 3, 4)),
    ("Internet", "Bram", 40, ["Ada", "Bram", "Chloe"], date(2026, 3, 9)),
]


def main() -> None:
    parser = argparse.ArgumentParser(description="ihatemoney with a database of its own")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--data", type=Path, default=Path("data"), help="where the database lies")
    options = parser.parse_args()
    data = options.data.absolute()
    data.mkdir(parents=True, exist_ok=True)
    settings = data / "settings.cfg"
    settings.write_text(SETTINGS.format(database=data / "money.db"))
    os.environ["IHATEMONEY_SETTINGS_FILE_PATH"] = str(settings)

    from ihatemoney.run import create_app  # reads the settings

    app = create_app()
    with app.app_context():
        fill()
    app.run(port=options.port, threaded=True)


def fill() -> None:
    """Put the books of Meadow Lane in, where there are none."""
    from ihatemoney.models import Bill, Person, Project, db
    from ihatemoney.utils import generate_password_hash

    if db.session.get(Project, "meadow-lane"):
        return
    project = Project(
        id="meadow-lane",
        name="Meadow Lane",
        password=generate_password_hash("green door"),
        contact_email="ada@example.org",
        default_currency="XXX",
    )
    db.session.add(project)
    people = {name: Person(name=name, weight=weight, project=project) for name, weight in PEOPLE}
    db.session.add_all(people.values())
    db.session.commit()
    for what, payer, amount, owers, day in BILLS:
        bill = Bill(
            amount=amount,
            date=day,
            original_currency="XXX",
            owers=[people[name] for name in owers],
            payer_id=people[payer].id,
            project_default_currency="XXX",
            what=what,
        )
        db.session.add(bill)
    db.session.commit()


main()
