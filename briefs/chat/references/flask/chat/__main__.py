import os
from pathlib import Path

from werkzeug.serving import make_server

from chat.app import create_app
from chat.provider import Provider


def main():
    seconds = float(os.environ["PROVIDER_SECONDS"])
    provider = Provider(os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"], os.environ["MODEL"], seconds)
    app = create_app(Path(os.environ["DATA_DIR"]) / "chat.db", provider)
    make_server("127.0.0.1", int(os.environ["PORT"]), app, threaded=True).serve_forever()


if __name__ == "__main__":
    main()
