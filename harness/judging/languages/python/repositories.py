"""Commands of git that make a repository in a folder of a test's own, and show nothing of any other one. Pure."""

import re
from collections.abc import Sequence

from tree_sitter import Node

from harness.judging.languages.python.calls import first_named
from harness.judging.languages.python.classes import text_of

_FOLDER = r"(?:tmp_path|tmpdir)(?:/[\"'][\w-]+[\"'])?"
_OWN = re.compile(rf"{_FOLDER}|(?:str|os\.fspath)\({_FOLDER}\)")
"""A folder that pytest makes for a test, or one in it."""
_KEPT = re.compile(r"user\.(?:name|email)|commit\.gpg[sS]ign|tag\.gpg[sS]ign|init\.defaultBranch")
"""Settings that run nothing and lead nowhere."""
_MAKES = frozenset({"init", "add", "commit", "tag"})
_PLAIN = re.compile(
    r"-q|--quiet|-m|-am|--message(?:=.*)?|--allow-empty|--no-gpg-sign|-A|--all|--bare|-b|--initial-branch(?:=[\w-]+)?|[^-].*"
)
_LEADS = re.compile(
    rb"GIT_(?:DIR|WORK|INDEX|OBJECT|ALTERNATE|EXEC|CONFIG_[CKP]|COMMON|TEMPLATE)|\.git\b|symlink"
    rb"|\b(?:tmp_path|tmpdir)\s*(?:=[^=]|:=|:\s*\w+\s*=)|\b(?:for|as|def)\s+(?:tmp_path|tmpdir)\b"
)
"""Text by which git may work in another folder, or run something."""
_MOST = 200


def leads_elsewhere(text: bytes) -> bool:
    """Return whether a file has anything by which git may work in another folder."""
    return _LEADS.search(text) is not None


def is_own(call: Node, words: Sequence[str | None], nodes: Sequence[Node]) -> bool:
    """Return whether a command makes something of a repository in a test's own folder alone."""
    if words[:1] != ["git"]:
        return False
    arguments = first_named(call.child_by_field_name("arguments"))
    named = [each for each in arguments if text_of(each.child_by_field_name("name")) == "cwd"]
    is_there = any(_is_folder(each.child_by_field_name("value")) for each in named)
    at = 1
    while at + 1 < len(words) and words[at] in ("-C", "-c"):
        if words[at] == "-C":
            is_there = _is_folder(nodes[at + 1])
        elif not _KEPT.fullmatch((words[at + 1] or "").partition("=")[0]):
            return False
        at += 2
    command, rest = (words[at] if at < len(words) else None), words[at + 1 :]
    if command == "config":
        return is_there and len(rest) == 2 and _KEPT.fullmatch(rest[0] or "") is not None
    return is_there and command in _MAKES and all(_PLAIN.fullmatch(word or "x") for word in rest)


def _is_folder(node: Node | None) -> bool:
    is_short = node is not None and node.end_byte - node.start_byte <= _MOST
    return is_short and _OWN.fullmatch(re.sub(r"\s+", "", text_of(node))) is not None
