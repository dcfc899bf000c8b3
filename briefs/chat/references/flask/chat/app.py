"""The routes."""

import json
import threading

from flask import Flask, Response, jsonify, request
from werkzeug.exceptions import HTTPException

from chat.answering import answered, is_spent
from chat.rules import Refused, checked_budget, checked_system, checked_text
from chat.store import Store

MOST_BYTES = 100_000


def create_app(path, provider):
    app = Flask(__name__, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = MOST_BYTES
    store, busy, lock = Store(path), {}, threading.Lock()

    @app.errorhandler(Refused)
    def refused(error):
        return jsonify(error=str(error)), error.status

    @app.errorhandler(HTTPException)
    def http_error(error):
        return jsonify(error=error.name), error.code

    @app.get("/healthz")
    def health():
        return jsonify(status="ok")

    @app.post("/conversations")
    def make():
        told = body()
        name = store.make(checked_system(told.get("system")), checked_budget(told.get("budget")))
        return shown(name), 201

    @app.get("/conversations/<name>")
    def conversation(name):
        return shown(name)

    @app.delete("/conversations/<name>")
    def remove(name):
        if not store.remove(name):
            raise Refused("no such conversation", 404)
        return "", 204

    @app.get("/conversations/<name>/notes")
    def notes(name):
        known(name)
        return jsonify(notes=[{"name": note, "text": text} for note, text in store.notes(name).items()])

    @app.post("/conversations/<name>/messages")
    def message(name):
        known(name)
        text = checked_text(body().get("text"))
        with lock:
            if name in busy:
                raise Refused("another message is being answered", 409)
            if is_spent(store, name):
                raise Refused("the budget is spent", 402)
            ticket = busy[name] = object()
        response = Response(events(name, text, ticket), mimetype="text/event-stream")
        response.call_on_close(lambda: free(name, ticket))  # whoever asked may leave before the first event
        return response

    def free(name, ticket):
        with lock:
            if busy.get(name) is ticket:
                del busy[name]

    def events(name, text, ticket):
        kind, data = "", None
        try:
            for kind, data in answered(store, provider, name, text):
                if kind not in ("done", "error"):
                    yield event(kind, data)
        finally:
            free(name, ticket)
        # Whoever reads the end may send the next message at once.
        yield event(kind, data)

    def event(kind, data):
        return f"event: {kind}\ndata: {json.dumps(data)}\n\n"

    def known(name):
        found = store.find(name)
        if found is None:
            raise Refused("no such conversation", 404)
        return found

    def shown(name):
        told = [message for message in store.messages(name) if message["role"] != "tool"]
        said = [{"role": each["role"], "text": each["content"]} for each in told if "tool_calls" not in each]
        return jsonify({**known(name), "messages": said})

    def body():
        try:
            told = request.get_json(force=True, silent=True)
        except RecursionError:
            told = None
        if not isinstance(told, dict):
            raise Refused("the body must be a JSON object")
        return told

    return app
