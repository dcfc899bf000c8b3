import os
from pathlib import Path

from werkzeug.serving import make_server

from lending.app import create_app


def main():
    app = create_app(Path(os.environ["DATA_DIR"]) / "lending.db")
    make_server("127.0.0.1", int(os.environ["PORT"]), app, threaded=True).serve_forever()


if __name__ == "__main__":
    main()
