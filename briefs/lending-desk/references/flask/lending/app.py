"""The pages."""

import csv
import io

from flask import Flask, flash, redirect, render_template, request, session
from werkzeug.exceptions import HTTPException

from lending import rules
from lending.rules import DESK, Refused
from lending.store import Store

MOST_BYTES = 100_000


def create_app(path):
    app = Flask(__name__, static_folder=None)
    store = Store(path)
    app.config.update(
        MAX_CONTENT_LENGTH=MOST_BYTES,
        MAX_FORM_MEMORY_SIZE=MOST_BYTES,
        SECRET_KEY=store.secret(),
        SESSION_COOKIE_SAMESITE="Strict",
    )

    def field(name):
        return request.form.get(name, "")

    def done(words, place):
        flash(words)
        return redirect(place, 303)

    def only(role):
        name = session.get("name")
        if name is None:
            raise Refused("Sign in first.", 403)
        if (name == DESK) is not (role == DESK):
            raise Refused("This isn't for you.", 403)
        return name

    @app.context_processor
    def everywhere():
        name = session.get("name")
        return {"name": name, "is_desk": name == DESK, "is_neighbour": name not in (None, DESK)}

    @app.errorhandler(Refused)
    def refused(error):
        return render_template("refused.html", words=str(error)), error.status

    @app.errorhandler(HTTPException)
    def http_error(error):
        return render_template("refused.html", words=error.name), error.code

    @app.get("/healthz")
    def health():
        return {"status": "ok"}

    @app.get("/")
    def home():
        part = request.args.get("q", "").strip()
        return render_template("home.html", tools=store.tools(part), part=part)

    @app.get("/sign-in")
    def sign_in_page():
        return render_template("account.html", does="Sign in", to="/sign-in")

    @app.post("/sign-in")
    def sign_in():
        name, password = field("name").strip(), field("password")
        is_desk = (name, password) == (DESK, rules.DESK_PASSWORD)
        known = DESK if is_desk else store.knows(name, password)
        if known is None:
            raise Refused("Name and password don't belong together.", 403)
        session["name"] = known
        return done("You are signed in.", "/")

    @app.get("/register")
    def register_page():
        return render_template("account.html", does="Register", to="/register")

    @app.post("/register")
    def register():
        name = rules.checked_name(field("name"))
        store.register(name, rules.checked_password(field("password")))
        session["name"] = name
        return done("You are registered.", "/")

    @app.post("/sign-out")
    def sign_out():
        session.clear()
        return done("You are signed out.", "/")

    @app.post("/borrow/<int:tool>")
    def borrow(tool):
        name = only("neighbour")
        days = rules.checked_days(field("days").strip())
        store.borrow(tool, name, rules.in_days(days), rules.in_days(0))
        return done("It is yours for now.", "/")

    @app.get("/loans")
    def own_loans():
        loans = store.loans_of(only("neighbour"))
        return render_template("loans.html", loans=loans, today=rules.in_days(0))

    @app.get("/desk")
    def desk():
        only(DESK)
        return render_template("desk.html", loans=store.loans(), overdue=store.overdue(rules.in_days(0)))

    @app.post("/desk/tools")
    def add_tool():
        only(DESK)
        store.add_tool(rules.checked_tool(field("tool")))
        return done("The tool is added.", "/desk")

    @app.post("/desk/loans")
    def record():
        only(DESK)
        store.record(field("tool").strip(), field("person").strip(), rules.checked_date(field("due").strip()))
        return done("The loan is recorded.", "/desk")

    @app.post("/desk/loans/<int:tool>/back")
    def take_back(tool):
        only(DESK)
        store.take_back(tool)
        return done("The tool is back.", "/desk")

    @app.get("/desk/loans.csv")
    def export():
        only(DESK)
        text = io.StringIO()
        rows = csv.writer(text)
        rows.writerow(["tool", "neighbour", "due"])
        rows.writerows([loan["tool"], loan["person"], loan["due"]] for loan in store.loans())
        return text.getvalue(), 200, {"Content-Type": "text/csv; charset=utf-8"}

    return app
