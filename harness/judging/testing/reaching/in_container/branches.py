"""Notes which lines of chosen files each Python process runs, and which ways its conditions and loops go.

A condition is a conditional jump of the bytecode, so each part of an `and` or `or` counts by itself. What is compiled
twice counts once: a `finally`, the head of a loop. Lies on PYTHONPATH as sitecustomize.py. A frame is traced where
its file is among $TESTWRIGHT_FILES, a JSON list of paths.
"""

import ast
import atexit
import dis
import json
import os
import sys
import threading

_root = os.getcwd() + os.sep
_files = {_root + path: path for path in json.loads(os.environ["TESTWRIGHT_FILES"])}
_ran = {name: set() for name in _files}
_taken = {name: set() for name in _files}
_known = {}
_counted = {}


class _Jumps:
    """The conditional jumps of one code object: `at` gives each of their offsets its jump.

    `parts` gives a place how many jumps its source makes, where that is known.
    """

    def __init__(self, code, parts):
        self.at = {}
        self.labels = []
        found = list(dis.get_instructions(code))
        line, begin, before = code.co_firstlineno, None, ""
        times = {}
        for number, item in enumerate(found):
            starts = item.starts_line
            if starts is True:
                line = item.line_number  # since Python 3.13
            elif starts and starts is not False:
                line = starts
            if item.opname == "EXTENDED_ARG":
                begin = number if begin is None else begin
                continue
            first, begin = number if begin is None else begin, None
            if _is_conditional(item.opname) and before != "WITH_EXCEPT_START":
                place = _place(item, line)
                times[place] = times.get(place, 0) + 1
                label = "%s:%d" % (_named(place, item), times[place] % parts.get(place, times[place] + 1))
                own = {each.offset for each in found[first : number + 1]}
                jump = (label, item.opname, own, _after(found, number))
                self.labels.append(label)
                for offset in own:
                    self.at[offset] = jump
            if item.opname != "TO_BOOL":
                before = item.opname


def _is_conditional(name):
    return name.startswith(("POP_JUMP", "JUMP_IF_", "FOR_ITER"))


def _place(item, line):
    """Line, column, last line, last column; the line alone before Python 3.11."""
    position = getattr(item, "positions", None)
    if position is None or position.lineno is None:
        return (line,)
    return (position.lineno, position.col_offset, position.end_lineno, position.end_col_offset)


def _named(place, item):
    return ":".join([",".join(map(str, place)), "for" if item.opname == "FOR_ITER" else "if"])


def _parts(text):
    """Place -> how many conditional jumps its condition is compiled to, each time that it is."""
    found = {}
    for node in ast.walk(ast.parse(text)):
        tests = [getattr(node, "test", None)] + (node.ifs if isinstance(node, ast.comprehension) else [])
        for test in tests:
            if isinstance(test, ast.expr):
                for each in (test, node):
                    found[_spot(each)] = _leaves(test)
        if isinstance(node, (ast.For, ast.comprehension)):
            found[_spot(node.iter)] = 1
    return found


def _spot(node):
    names = ("lineno", "col_offset", "end_lineno", "end_col_offset")
    return tuple(getattr(node, name, None) for name in names)


def _leaves(test):
    if isinstance(test, ast.BoolOp):
        return sum(map(_leaves, test.values))
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _leaves(test.operand)
    return len(test.ops) if isinstance(test, ast.Compare) else 1


def _after(found, number):
    """Offsets at which the next instruction begins."""
    offsets = set()
    for item in found[number + 1 :]:
        offsets.add(item.offset)
        if item.opname != "EXTENDED_ARG":
            break
    return offsets


def _way(jump, at):
    """`:1` or `:0`: the condition held, or there was a next item."""
    jumped = at not in jump[3]
    holds = not jumped if jump[1] == "FOR_ITER" or "FALSE" in jump[1] or jump[1].endswith("NOT_NONE") else jumped
    return jump[0] + (":1" if holds else ":0")


def _call(frame, _event, _argument):
    code = frame.f_code
    name = code.co_filename
    if name not in _files:
        return None
    frame.f_trace_opcodes = True
    if code not in _known:
        _known[code] = _Jumps(code, _parts_of(name))
    jumps, ran, taken = _known[code].at, _ran[name], _taken[name]
    last = None

    def follow(frame, event, argument):
        nonlocal last
        if event == "line":
            ran.add(frame.f_lineno)
        elif event == "opcode":
            at = frame.f_lasti
            if last is not None and at not in last[2]:
                taken.add(_way(last, at))
            last = jumps.get(at)
        elif event == "exception" and not (last and last[1] == "FOR_ITER" and argument[0] is StopIteration):
            last = None
        return follow

    return follow


def _parts_of(name):
    if name not in _counted:
        with open(name, "rb") as file:
            _counted[name] = _parts(file.read())
    return _counted[name]


def _codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            yield from _codes(constant)


def _facts(name):
    lines, branches = set(), set()
    with open(name, "rb") as file:
        whole = compile(file.read(), name, "exec")
    for code in _codes(whole):
        lines.update(line for _, line in dis.findlinestarts(code) if line)
        for label in _Jumps(code, _parts_of(name)).labels:
            branches.update((label + ":0", label + ":1"))
    found = {"lines": lines, "ran": _ran[name], "branches": branches, "taken": _taken[name]}
    return {what: sorted(each) for what, each in found.items()}


def _write():
    sys.settrace(None)
    facts = {path: _facts(name) for name, path in _files.items() if os.path.exists(name)}
    name = "reached-%d.json" % os.getpid()
    with open(os.path.join(os.environ["TESTWRIGHT_REACHED"], name), "w") as file:
        json.dump(facts, file)


threading.settrace(_call)
sys.settrace(_call)
atexit.register(_write)
