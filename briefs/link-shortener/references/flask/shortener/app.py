"""The routes."""

import secrets

from flask import Flask, jsonify, request
from werkzeug.exceptions import HTTPException

from shortener.rules import Refused, checked_code, checked_limit, checked_url, host_of, number
from shortener.store import Store, Taken, UsedUp

MOST_BYTES = 100_000


def create_app(path):
    app = Flask(__name__, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = MOST_BYTES
    app.json.sort_keys = False
    store = Store(path)

    @app.errorhandler(Refused)
    def refused(error):
        return jsonify(error=str(error)), error.status

    @app.errorhandler(HTTPException)
    def http_error(error):
        return jsonify(error=error.name), error.code

    @app.get("/healthz")
    def health():
        return jsonify(status="ok")

    @app.post("/links")
    def add():
        try:
            told = request.get_json(force=True, silent=True)
        except RecursionError:
            told = None
        if not isinstance(told, dict):
            raise Refused("the body must be a JSON object")
        url = checked_url(told.get("url"))
        limit = checked_limit(told["max_visits"]) if told.get("max_visits") is not None else None
        own = told.get("code")
        code = checked_code(own) if own is not None else secrets.token_urlsafe(6)
        try:
            store.add(code, url, limit)
        except Taken:
            raise Refused("code: taken", 409) from None
        return jsonify(code=code, url=url, visits=0, max_visits=limit), 201

    @app.get("/links")
    def page():
        size = number(request.args.get("per_page", "20"), "per_page", 100)
        links = store.page(number(request.args.get("page", "1"), "page"), size)
        return jsonify(total=store.total(), links=links)

    @app.get("/top")
    def top():
        return jsonify(links=store.top(number(request.args.get("limit", "10"), "limit", 100)))

    @app.get("/links/<code>")
    def link(code):
        return jsonify(known(code))

    @app.delete("/links/<code>")
    def remove(code):
        if not store.remove(code):
            raise Refused("no such link", 404)
        return "", 204

    @app.get("/links/<code>/referrers")
    def referrers(code):
        known(code)
        return jsonify(referrers=store.referrers(code))

    @app.get("/<code>")
    def visit(code):
        try:
            url = store.visit(code, host_of(request.headers.get("Referer")))
        except UsedUp:
            raise Refused("this link has been visited as often as it may be", 410) from None
        if url is None:
            raise Refused("no such link", 404)
        return "", 302, {"Location": url}

    def known(code):
        found = store.find(code)
        if found is None:
            raise Refused("no such link", 404)
        return found

    return app
