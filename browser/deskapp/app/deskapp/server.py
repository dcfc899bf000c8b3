"""The web server: pages, static files, and the service under /api."""

import json
import re
import threading
from http import HTTPStatus
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from deskapp import pages
from deskapp.store import MOST_TITLE, Store

_STATIC = Path(__file__).parent / "static"
_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
_MOST_BODY = 100_000
YEAR, MOST_HOURS = 2025, 1000


class Refused(Exception):
    """An answer with a status of its own and a word for people."""

    def __init__(self, status: HTTPStatus, words: str) -> None:
        super().__init__(words)
        self.status = status


class Desk(BaseHTTPRequestHandler):
    """One request."""

    store: Store
    report_seconds: float
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer_any("GET")

    def do_POST(self) -> None:
        self._answer_any("POST")

    def do_PATCH(self) -> None:
        self._answer_any("PATCH")

    def do_DELETE(self) -> None:
        self._answer_any("DELETE")

    def log_message(self, *_: object) -> None:
        """Nothing is printed for a request."""

    def _answer_any(self, method: str) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        self.body = self.rfile.read(min(length, _MOST_BODY))
        path = self.path.partition("?")[0]
        for wanted, pattern, name in ROUTES:
            if wanted == method and (found := re.fullmatch(pattern, path)):
                try:
                    getattr(self, name)(*found.groups())
                except Refused as error:
                    self._send_json(error.status, {"error": str(error)})
                return
        self._send_json(HTTPStatus.NOT_FOUND, {"error": "there is no such address"})

    # The service.

    def quit(self) -> None:
        self._send_json(HTTPStatus.ACCEPTED, {"state": "ending"})
        threading.Thread(target=self.server.shutdown).start()

    def health(self) -> None:
        self.store.todos()
        self._send(HTTPStatus.OK, "text/plain", b"ok\n")

    def todos(self) -> None:
        self._send_json(HTTPStatus.OK, {"todos": self.store.todos()})

    def todo(self, number: str) -> None:
        self._send_json(HTTPStatus.OK, self._known(self.store.todo(int(number))))

    def add_todo(self) -> None:
        title = self._told().get("title")
        if not isinstance(title, str) or not title.strip():
            raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, "a to-do needs a title")
        if len(title) > MOST_TITLE:
            raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, f"a title has at most {MOST_TITLE} characters")
        self._send_json(HTTPStatus.CREATED, self.store.add_todo(title.strip()))

    def change_todo(self, number: str) -> None:
        done = self._told().get("done")
        if not isinstance(done, bool):
            raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, "done is true or false")
        self._send_json(HTTPStatus.OK, self._known(self.store.change_todo(int(number), done)))

    def remove_todo(self, number: str) -> None:
        if not self.store.remove_todo(int(number)):
            raise Refused(HTTPStatus.NOT_FOUND, "there is no such to-do")
        self._send(HTTPStatus.NO_CONTENT, "", b"")

    def start_report(self) -> None:
        year = self._told().get("year")
        if not isinstance(year, int) or isinstance(year, bool):
            raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, "year is a number")
        number = self.store.start_report(year, self.report_seconds)
        self._send_json(HTTPStatus.ACCEPTED, {"id": number, "year": year, "state": "running"})

    def report(self, number: str) -> None:
        self._send_json(HTTPStatus.OK, self._known(self.store.report(int(number))))

    def report_file(self, number: str) -> None:
        found = self._known(self.store.report(int(number)))
        if found["state"] != "done":
            raise Refused(HTTPStatus.CONFLICT, "the report isn't there yet")
        rows = ["client,hours", *(f"{client},{hours}" for client, hours in self.store.entries(found["year"]))]
        more = {"Content-Disposition": f'attachment; filename="report-{found["year"]}.csv"'}
        self._send(HTTPStatus.OK, "text/csv; charset=utf-8", ("\n".join(rows) + "\n").encode(), more)

    # Pages.

    def todo_page(self) -> None:
        self._send_page(pages.TODOS)

    def report_page(self) -> None:
        self._send_page(pages.REPORTS)

    def login_page(self) -> None:
        self._send_page(pages.login())

    def calendar_page(self) -> None:
        self._send_page(pages.CALENDAR)

    def appointments(self) -> None:
        self._send_json(HTTPStatus.OK, {"appointments": self.store.appointments()})

    def client_page(self) -> None:
        self._send_page(pages.clients(YEAR, self.store.hours(YEAR)))

    def client_file(self) -> None:
        hours = self.store.hours(YEAR)
        rows = ["client;hours", *(f"{_quoted(client)};{number}" for client, number in hours)]
        more = {"Content-Disposition": f'attachment; filename="clients-{YEAR}.csv"'}
        self._send(HTTPStatus.OK, "text/csv; charset=utf-8", "".join(f"{row}\n" for row in rows).encode(), more)

    def add_hours(self) -> None:
        form = self._form()
        client, hours = form.get("client", "").strip(), form.get("hours", "").strip()
        if not client or not hours.isdecimal() or not 0 < int(hours) <= MOST_HOURS:
            why_not = f"A client and a number of hours from 1 to {MOST_HOURS} are needed."
            page = pages.clients(YEAR, self.store.hours(YEAR), why_not)
            self._send_page(page, HTTPStatus.UNPROCESSABLE_ENTITY)
            return
        self.store.add_hours(YEAR, client, int(hours))
        self._go("/clients")

    def sign_in(self) -> None:
        form = self._form()
        token, why_not = self.store.sign_in(form.get("email", ""), form.get("password", ""))
        if why_not:
            status = HTTPStatus.FORBIDDEN if why_not == "wrong" else HTTPStatus.TOO_MANY_REQUESTS
            self._send_page(pages.login(pages.WHY_NOT[why_not]), status)
            return
        self._go("/account", {"Set-Cookie": f"desk={token}; Path=/; HttpOnly; SameSite=Lax"})

    def sign_out(self) -> None:
        self.store.sign_out(self._token())
        self._go("/login", {"Set-Cookie": "desk=; Path=/; Max-Age=0"})

    def account_page(self) -> None:
        if email := self._signed_in():
            self._send_page(pages.account(self.store.name_of(self._token()), self.store.notes(email)))

    def add_note(self) -> None:
        if not (email := self._signed_in()):
            return
        text = self._form().get("text", "").strip()
        if not text:
            page = pages.account(self.store.name_of(self._token()), self.store.notes(email), "A note needs a text.")
            self._send_page(page, HTTPStatus.UNPROCESSABLE_ENTITY)
            return
        self.store.add_note(email, text)
        self._go("/account")

    def remove_note(self, number: str) -> None:
        if email := self._signed_in():
            self.store.remove_note(email, int(number))
            self._go("/account")

    def static(self, name: str) -> None:
        path = _STATIC / name
        if not path.is_file():
            raise Refused(HTTPStatus.NOT_FOUND, "there is no such file")
        self._send(HTTPStatus.OK, _TYPES[path.suffix], path.read_bytes())

    # What they have in common.

    def _told(self) -> dict[str, Any]:
        try:
            told = json.loads(self.body or b"{}")
        except ValueError:
            raise Refused(HTTPStatus.BAD_REQUEST, "that is not JSON") from None
        if not isinstance(told, dict):
            raise Refused(HTTPStatus.BAD_REQUEST, "an object is expected")
        return told

    def _form(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(self.body.decode()).items()}

    def _token(self) -> str:
        cookie = SimpleCookie(self.headers.get("Cookie", "")).get("desk")
        return cookie.value if cookie else ""

    def _signed_in(self) -> str:
        """The address of whoever is signed in; who isn't is sent to do so."""
        email = self.store.email_of(self._token())
        if not email:
            self._go("/login")
        return email

    def _go(self, where: str, more: dict[str, str] | None = None) -> None:
        self._send(HTTPStatus.SEE_OTHER, "", b"", {"Location": where, **(more or {})})

    @staticmethod
    def _known(found: dict[str, Any] | None) -> dict[str, Any]:
        if found is None:
            raise Refused(HTTPStatus.NOT_FOUND, "there is no such thing")
        return found

    def _send_json(self, status: HTTPStatus, what: object) -> None:
        self._send(status, "application/json", json.dumps(what).encode())

    def _send_page(self, text: str, status: HTTPStatus = HTTPStatus.OK) -> None:
        self._send(status, "text/html; charset=utf-8", text.encode())

    def _send(self, status: HTTPStatus, kind: str, data: bytes, more: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Cache-Control": "no-store", **(more or {})}.items():
            if value:
                self.send_header(name, value)
        if status is not HTTPStatus.NO_CONTENT:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _quoted(text: str) -> str:
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if set(text) & set(';"\n') else text


_ONE = r"([0-9]{1,9})"
ROUTES = (
    ("GET", "/healthz", "health"),
    ("POST", "/api/quit", "quit"),
    ("GET", "/api/todos", "todos"),
    ("POST", "/api/todos", "add_todo"),
    ("GET", f"/api/todos/{_ONE}", "todo"),
    ("PATCH", f"/api/todos/{_ONE}", "change_todo"),
    ("DELETE", f"/api/todos/{_ONE}", "remove_todo"),
    ("POST", "/api/reports", "start_report"),
    ("GET", f"/api/reports/{_ONE}", "report"),
    ("GET", f"/api/reports/{_ONE}/file", "report_file"),
    ("GET", "/api/appointments", "appointments"),
    ("GET", "/", "todo_page"),
    ("GET", "/reports", "report_page"),
    ("GET", "/clients", "client_page"),
    ("POST", "/clients", "add_hours"),
    ("GET", "/clients/file", "client_file"),
    ("GET", "/calendar", "calendar_page"),
    ("GET", "/login", "login_page"),
    ("POST", "/login", "sign_in"),
    ("POST", "/logout", "sign_out"),
    ("GET", "/account", "account_page"),
    ("POST", "/notes", "add_note"),
    ("POST", f"/notes/{_ONE}/remove", "remove_note"),
    ("GET", r"/static/([a-z]+\.(?:css|js))", "static"),
)


def serve(port: int, data: Path, report_seconds: float, most_sign_ins: int) -> None:
    Desk.store, Desk.report_seconds = Store(data, most_sign_ins), report_seconds
    ThreadingHTTPServer(("127.0.0.1", port), Desk).serve_forever()
