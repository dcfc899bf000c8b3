"""Files of a patch beside a test that reads them: they are no code under test, and are looked at themselves. Pure."""

import posixpath
import re
from collections.abc import Mapping

from tree_sitter import Node

from harness.judging.languages.found import nodes_of
from harness.judging.languages.python.classes import text_of
from harness.judging.languages.python.values import Values

_HERE = r"(?:pathlib\.)?Path\(__file__\)(?:\.(?:resolve|absolute)\(\))?"
_FOLDER = re.compile(rf"{_HERE}\.parent|os\.path\.dirname\((?:__file__|os\.path\.(?:abspath|realpath)\(__file__\))\)")
_NAME = r"""["']([\w-]+\.py)["']"""
_BESIDE = re.compile(
    rf"(?:{_FOLDER.pattern})/{_NAME}|{_HERE}\.with_name\({_NAME}\)|os\.path\.join\((?:{_FOLDER.pattern}),{_NAME}\)"
)
_NAMED = re.compile(rf"(\w+)/{_NAME}|os\.path\.join\((\w+),{_NAME}\)")
_MOST_CHARS = 200


class OwnFiles:
    """The files of a patch beside one of its tests, and the names of their folder in it."""

    def __init__(self, own: Mapping[str, bytes], path: str, values: Values) -> None:
        self._own, self._folder, self._values = own, posixpath.dirname(path), values

    def has(self, node: Node) -> bool:
        """Return whether an expression is the path of one of them, by the test's own place and nothing else.

        A link to a file is none of the patch: its text is a path, without the end of a line.
        """
        text = _short(node)
        name = next(filter(None, found.groups()), "") if (found := _BESIDE.fullmatch(text)) else ""
        if not name and (found := _NAMED.fullmatch(text)):
            folder, name = (each for each in found.groups() if each)
            if not self._is_folder(node, folder):
                return False
        return bool(name) and self._own.get(posixpath.join(self._folder, name), b"").endswith(b"\n")

    def _is_folder(self, node: Node, name: str) -> bool:
        used = next((each for each in nodes_of(node) if each.type == "identifier" and text_of(each) == name), None)
        values = self._values.of(used) if used is not None else []
        return bool(values) and all(each is not None and _FOLDER.fullmatch(_short(each)) for each in values)


def _short(node: Node) -> str:
    return re.sub(r"\s+", "", text_of(node)) if node.end_byte - node.start_byte <= _MOST_CHARS else ""
