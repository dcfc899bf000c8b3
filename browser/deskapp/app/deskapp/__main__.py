"""The command: python -m deskapp --port PORT --data DIRECTORY."""

import argparse
from pathlib import Path

from deskapp.server import serve


def main() -> None:
    parser = argparse.ArgumentParser(prog="deskapp", description="To-dos, reports, clients, a calendar, notes.")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--data", type=Path, default=Path("data"), help="where the database lies")
    parser.add_argument("--report-seconds", type=float, default=1.0, help="how long a report takes to be made")
    parser.add_argument(
        "--sign-ins", type=int, default=0, help="times that an account can sign in within five minutes; 0: any number"
    )
    options = parser.parse_args()
    serve(options.port, options.data, options.report_seconds, options.sign_ins)


if __name__ == "__main__":
    main()
