"""Pages as HTML; what moves in them is in static/."""

from html import escape

_FRAME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><title>{title} - Deskapp</title>
<link rel="stylesheet" href="/static/desk.css">{script}
</head>
<body>
<nav><a href="/">To-dos</a> <a href="/reports">Reports</a> <a href="/clients">Clients</a>
<a href="/calendar">Calendar</a> <a href="/account">Account</a></nav>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""


def _page(title: str, body: str, script: str = "") -> str:
    tag = f'\n<script src="/static/{script}.js" defer></script>' if script else ""
    return _FRAME.format(title=title, body=body, script=tag)


TODOS = _page(
    "To-dos",
    """<div id="outage" role="alert" hidden>
<p>The to-dos can't be loaded at the moment.</p>
<button type="button" id="again">Try again</button>
</div>
<ul id="todos" aria-label="To-dos"></ul>
<form id="add">
<label for="title">New to-do</label> <input id="title" name="title" required maxlength="100">
<button>Add</button>
</form>""",
    "todos",
)
REPORTS = _page(
    "Reports",
    """<form id="order">
<label for="year">Year</label> <input id="year" name="year" type="number" required value="2025">
<button>Make report</button>
</form>
<p id="state" role="status"></p>
<p><a id="file" hidden>Download the report</a></p>""",
    "reports",
)
CALENDAR = _page("Calendar", '<ul id="appointments" aria-label="Appointments"></ul>', "calendar")
WHY_NOT = {
    "wrong": "E-mail or password is wrong.",
    "locked": "Too many tries. Wait five minutes.",
    "often": "Signed in too often. Wait five minutes.",
}


def login(why_not: str = "") -> str:
    return _page(
        "Log in",
        f"""{_told(why_not)}<form method="post" action="/login">
<label for="email">E-mail</label> <input id="email" name="email" type="email">
<label for="password">Password</label> <input id="password" name="password" type="password">
<button>Log in</button>
</form>""",
    )


def account(name: str, notes: list[tuple[int, str]], why_not: str = "") -> str:
    lines = "\n".join(f"<li>{escape(text)} {_removal(number, text)}</li>" for number, text in notes)
    return _page(
        "Account",
        f"""<p>Signed in as {escape(name)}.</p>
<form method="post" action="/logout"><button>Log out</button></form>
<div id="idle" role="alert" hidden>
<p>You will be signed out in five minutes.</p>
<button type="button" id="stay">Stay signed in</button>
</div>
<h2>Notes</h2>
{_told(why_not)}<ul aria-label="Notes">{lines}</ul>
<form method="post" action="/notes">
<label for="text">New note</label> <input id="text" name="text">
<button>Save note</button>
</form>""",
        "account",
    )


def clients(year: int, hours: list[tuple[str, int]], why_not: str = "") -> str:
    rows = "\n".join(f"<tr><td>{escape(client)}</td><td>{number}</td></tr>" for client, number in hours)
    return _page(
        "Clients",
        f"""<table>
<caption>Hours of {year}</caption>
<thead><tr><th scope="col">Client</th><th scope="col">Hours</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
<p role="status">{sum(number for _, number in hours)} hours in all</p>
{_told(why_not)}<form method="post" action="/clients">
<label for="client">Client</label> <input id="client" name="client">
<label for="hours">Hours</label> <input id="hours" name="hours" inputmode="numeric">
<button>Add hours</button>
</form>
<div><button type="button" id="export">Export</button></div>""",
        "clients",
    )


def _told(why_not: str) -> str:
    return f'<p role="alert">{escape(why_not)}</p>\n' if why_not else ""


def _removal(number: int, text: str) -> str:
    return f'''<form method="post" action="/notes/{number}/remove">
<button aria-label="Remove {escape(text)}">Remove</button></form>'''
