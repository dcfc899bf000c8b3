"""Pages as HTML; what moves in them is in static/."""

from html import escape

_FRAME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><title>{title} - Deskapp</title>
<link rel="stylesheet" href="/static/desk.css">{script}
</head>
<body>
<nav><a href="/">To-dos</a> <a href="/reports">Reports</a> <a href="/account">Account</a></nav>
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
WHY_NOT = {
    "wrong": "E-mail or password is wrong.",
    "locked": "Too many tries. Wait five minutes.",
}


def login(why_not: str = "") -> str:
    told = f'<p role="alert">{escape(why_not)}</p>\n' if why_not else ""
    return _page(
        "Log in",
        f"""{told}<form method="post" action="/login">
<label for="email">E-mail</label> <input id="email" name="email" type="email">
<label for="password">Password</label> <input id="password" name="password" type="password">
<button>Log in</button>
</form>""",
    )


def account(name: str) -> str:
    return _page("Account", f"<p>Signed in as {escape(name)}.</p>")
