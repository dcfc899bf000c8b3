"""Pieces of a file of which it makes tests while it is loaded, read as if each were a test at its end. Pure."""

from collections.abc import Callable, Mapping

from tree_sitter import Node

from harness.judging.languages.found import MAX_SOURCE, TestFile, TestFunction, TooMuchToRead


def read_as_tests(
    source: bytes,
    path: str,
    nodes: Mapping[int, Node],
    name: str,
    written: Callable[[bytes, Node, str], bytes],
    discover: Callable[[bytes, str], TestFile],
) -> dict[int, TestFunction]:
    """Return the pieces that stand on some lines as tests without a name.

    Args:
        source: The file's text.
        path: The file's.
        nodes: The pieces by their lines.
        name: The form of a test's name that no file has, with `{}` for the line.
        written: Gives the text of a test of this name that is made of a piece.
        discover: Finds a file's tests.

    Returns:
        Each with its own text, and the assertions that it has with the functions of the file that it calls.

    Raises:
        TooMuchToRead: Their texts together are larger than a file may be.
    """
    copies = [written(source, node, name.format(line)) for line, node in nodes.items()]
    if len(source) + sum(map(len, copies)) > MAX_SOURCE:
        words = f"the functions that tests are made of have more than {MAX_SOURCE} bytes together"
        raise TooMuchToRead(f"{path}: {words}")
    found = discover(b"".join([source, *copies]), path)
    tests = {line: found.find(name.format(line)) for line in nodes}
    return {
        line: TestFunction(
            name="",
            first_line=node.start_point[0] + 1,
            last_line=node.end_point[0] + 1,
            text=source[node.start_byte : node.end_byte],
            assertions=test.assertions if (test := tests[line]) else 0,
        )
        for line, node in nodes.items()
    }
