"""A provider for tests: what it is to answer is written down before."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def chunk(delta=None, usage=None):
    choices = [] if delta is None else [{"index": 0, "delta": delta}]
    return f"data: {json.dumps({'choices': choices, 'usage': usage})}\n\n"


def text_of(*pieces, tokens=10):
    parts = [chunk({"role": "assistant", "content": None}), *(chunk({"content": piece}) for piece in pieces)]
    return 200, {}, "".join([*parts, chunk(usage={"total_tokens": tokens}), "data: [DONE]\n\n"])


@contextmanager
def provider(*answers):
    """Yield the base URL, and the requests with their paths, keys and bodies. An answer of None never comes."""
    asked, left, over = [], list(answers), threading.Event()

    class Front(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append((self.path, self.headers["Authorization"], body))
            answer = left.pop(0)
            if answer is None:
                over.wait(10)
                return
            status, headers, text = answer
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text.encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Front)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        over.set()
        server.shutdown()
        server.server_close()
