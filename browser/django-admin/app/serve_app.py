"""Serves a library in Django's admin from an SQLite database: python3 serve_app.py --port PORT --data DIRECTORY.

Where the directory has no database, the migrations make it, and it gets a few books and two accounts.
"""

import argparse
import os
from pathlib import Path

BOOKS = [
    ("The Tin Ladder", "Ines Prado", True, ["A-1", "A-2"]),
    ("Salt Roads", "Ines Prado", False, ["A-3"]),
    ("A Short History of Gates", "Jonas Weck", True, ["B-1"]),
    ("Winter Ferry", "Mae Osei", True, []),
]


def main() -> None:
    parser = argparse.ArgumentParser(description="a library in Django's admin")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--data", type=Path, default=Path("data"), help="where the database lies")
    options = parser.parse_args()
    options.data.mkdir(parents=True, exist_ok=True)
    os.environ["LIBRARY_DATABASE"] = str(options.data.absolute() / "library.db")
    os.environ["DJANGO_SETTINGS_MODULE"] = "library.settings"

    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    fill()
    call_command("runserver", f"127.0.0.1:{options.port}", "--noreload", "--nostatic", "--skip-checks")


def fill() -> None:
    """Put books and accounts in, where there are none."""
    from django.contrib.auth.models import Permission, User

    from library.models import Author, Book, Copy

    if User.objects.exists():
        return
    User.objects.create_superuser("librarian", password="quiet please")
    clerk = User.objects.create_user("clerk", password="stamp stamp", is_staff=True)
    clerk.user_permissions.set(Permission.objects.filter(codename__in=["view_book", "change_book", "view_author"]))
    for number, (title, name, in_print, copies) in enumerate(BOOKS):
        author, _ = Author.objects.get_or_create(name=name)
        book = Book.objects.create(title=title, slug=f"book-{number}", author=author, in_print=in_print)
        for copy in copies:
            Copy.objects.create(book=book, number=copy, shelf="1")


main()
