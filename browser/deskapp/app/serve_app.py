"""Serves Deskapp: python3 serve_app.py --port PORT --data DIRECTORY, with the options of `python -m deskapp`."""

from deskapp.__main__ import main

main()
