"""Serves a tracker of Roundup from an SQLite database: python3 serve_app.py --port PORT --data DIRECTORY.

Where the directory has no tracker, Roundup makes one of its template `classic`, and it gets a few people and issues.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

PEOPLE = [("ada", "door key", "Ada Voss"), ("bram", "blue bucket", "Bram Oduya"), ("chloe", "tall ladder", "Chloe Lind")]
ISSUES = [
    ("The boiler makes a noise", "urgent", "in-progress", "bram", ["It began on Monday.", "Ordered a new valve."]),
    ("Curtains for the stage", "wish", "unread", "ada", []),
    ("The side door doesn't lock", "critical", "chatting", "ada", ["The key turns, and nothing moves."]),
    ("Chairs are missing", "bug", "resolved", "chloe", ["They were in the cellar."]),
]
INTERFACES = '''\
"""The tracker's pages lead to the host and port at which they were asked for."""

from roundup.cgi import client


class Client(client.Client):
    def __init__(self, instance, request, env, form=None, translator=None):
        super().__init__(instance, request, env, form, translator)
        self.base = "http://%s/desk/" % env["HTTP_HOST"]
'''


def main() -> None:
    parser = argparse.ArgumentParser(description="Roundup with a tracker of its own")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--data", type=Path, default=Path("data"), help="where the tracker lies")
    options = parser.parse_args()
    home = options.data.absolute() / "desk"
    if not home.exists():
        make(home, options.port)

    from roundup.scripts import roundup_server

    # With a single name the first page, by which others see that the server is up, would only lead on to another.
    names = [f"desk={home}", f"hall={home}"]
    sys.argv = ["roundup-server", "-n", "127.0.0.1", "-p", str(options.port), "-t", "thread", *names]
    roundup_server.run()


def make(home: Path, port: int) -> None:
    """Install a tracker of the template, initialise it, and put people and issues in."""
    from roundup import configuration, init, instance
    from roundup.password import Password

    home.parent.mkdir(parents=True, exist_ok=True)
    init.install(str(home), str(Path(__file__).parent / "share/roundup/templates/classic"))
    config = configuration.CoreConfig()
    settings = {
        "TRACKER_NAME": "The hall's desk",
        "TRACKER_WEB": f"http://localhost:{port}/desk/",
        "MAIL_DOMAIN": "example.org",
        "MAIL_DEBUG": str(home / "mail.txt"),
        "RDBMS_BACKEND": "sqlite",
        "WEB_DYNAMIC_COMPRESSION": "no",
        "PASSWORD_PBKDF2_DEFAULT_ROUNDS": 10_000,
    }
    for name, value in settings.items():
        config[name] = value
    config.save(str(home / config.INI_FILE))
    (home / "interfaces.py").write_text(INTERFACES)
    tracker = instance.open(str(home))
    tracker.init(Password("in charge", config=tracker.config))
    database = tracker.open("admin")
    for name, password, real_name in PEOPLE:
        database.user.create(
            username=name,
            password=Password(password, config=tracker.config),
            realname=real_name,
            address=f"{name}@example.org",
            roles="User",
        )
    database.commit()
    database.close()
    for title, priority, status, name, comments in ISSUES:
        add_issue(tracker, title, priority, status, name, comments)


def add_issue(tracker: Any, title: str, priority: str, status: str, name: str, comments: list[str]) -> None:
    """Add an issue of somebody, with comments."""
    from roundup.date import Date

    database = tracker.open(name)
    messages = [
        database.msg.create(author=database.getuid(), date=Date("."), content=comment, summary=comment)
        for comment in comments
    ]
    database.issue.create(
        title=title,
        priority=database.priority.lookup(priority),
        status=database.status.lookup(status),
        messages=messages,
    )
    database.commit()
    database.close()


main()
