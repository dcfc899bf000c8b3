"""The parts of the check of a design that read its files, and start nothing."""

import ast
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from inspect import Parameter, Signature

from harness.authoring.task_check.subject import Subject, as_problem, kept_tree
from harness.authoring.task_check.task_files import python_fault
from harness.plugins.design.arms import OWN_FRAME, adapter_files, own_adapter_files, texts_of
from harness.plugins.design.design_file import PLAY, SUBJECT, Change, MutantKind, MutantSpec
from harness.plugins.design.grading import design_task
from harness.plugins.design.task import DESIGN, NEIGHBOURS, REFERENCE, REQUIREMENT, VOCABULARY, DesignTask
from harness.plugins.design.vocabulary import Operation
from harness.sandbox.git_tree import GitTree
from harness.specs.errors import UserError
from harness.specs.problem import Problem, Severity
from harness.specs.yaml_files import line_of_key

_CLASS, _INIT, _NEW, _SETATTR = "Subject", "__init__", "__new__", "setattr"
_CATCH_ALL = frozenset({"__getattr__", "__getattribute__", _SETATTR})
"""Names of what gives a class methods that its text doesn't have."""
_ADAPTER = "adapter"


async def files_problems(subject: Subject) -> list[Problem]:
    """Return what is wrong with the files beside those that loading reads: cases, adapter, names of neighbours."""
    task = design_task(subject.task)
    with_edges = bool(task.mutants(MutantKind.BOUNDARY))
    found: list[Problem] = []
    known = set()
    for name in (REFERENCE, NEIGHBOURS) if with_edges else (REFERENCE,):
        try:
            known = {case.id for case in task.cases(name)}
        except UserError as error:
            found.append(as_problem(subject.catalog, error, subject.at(name)))
    if not found:
        found += _unknown_neighbours(subject, task, known)
    try:
        found += _adapter(subject, adapter_files(task), task)
    except UserError as error:
        found.append(as_problem(subject.catalog, error, subject.at(_ADAPTER)))
    return found


def _unknown_neighbours(subject: Subject, task: DesignTask, known: set[str]) -> Iterator[Problem]:
    for mutant in task.design.mutants:
        for name in mutant.neighbours:
            if name not in known:
                words = f"{mutant.id}: {NEIGHBOURS} has no case {name!r}"
                yield Problem(where=subject.at(DESIGN, mutant.id), message=words)


def _adapter(subject: Subject, files: Mapping[str, bytes], task: DesignTask) -> Iterator[Problem]:
    """Yield files of the adapter that are no Python, and what a subject lacks that `adapter.py` calls."""
    for path in sorted(own_adapter_files(task)):
        where = subject.at(f"{_ADAPTER}/{path.removeprefix(f'{PLAY}/')}")
        if not path.endswith(".py"):
            continue
        if fault := python_fault(files[path]):
            yield Problem(where=f"{where}:{fault.line}", message=fault.words)
        elif path == SUBJECT and task.design.frame != OWN_FRAME:
            for line, words in _subject_faults(ast.parse(files[path]), task.vocabulary.operations):
                yield Problem(where=f"{where}:{line}", message=words)


def _subject_faults(module: ast.Module, operations: Mapping[str, Operation]) -> Iterator[tuple[int, str]]:
    """Yield what a module lacks that cases are played on, each with its line.

    A class that inherits, is decorated or bound anew may have more than its text says: only what it writes itself is
    looked at.
    """
    bound = [name for node in module.body for name in _bound(node)]
    made = [node for node in module.body if isinstance(node, ast.ClassDef) and node.name == _CLASS]
    if not made:
        if not {_CLASS, "*"} & {*bound}:
            yield 1, f"has no class {_CLASS}(clock) with a method for each operation of {VOCABULARY}"
        return
    of_class = made[-1]
    methods = {node.name: node for node in of_class.body if isinstance(node, ast.FunctionDef)}
    names = {name for node in of_class.body for name in _bound(node)} | _given_later(module)
    is_open = of_class.bases or of_class.keywords or of_class.decorator_list or bound.count(_CLASS) > len(made)
    is_whole = not is_open and not names & _CATCH_ALL
    for name, call in {_INIT: "a clock", **{name: _call(item) for name, item in operations.items()}}.items():
        if name in methods:
            if words := _misfit(methods[name], operations.get(name)):
                yield methods[name].lineno, f"{_CLASS}.{name} is called with {call}: {words}"
        elif is_whole and name not in names and not (name == _INIT and _NEW in names):
            yield of_class.lineno, f"{_CLASS} has no method {name}, which is called with {call}"


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement binds where it stands: none of those within a function or a class."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        return
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in node.names)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from _bound(child)


def _given_later(module: ast.Module) -> set[str]:
    """Return the attributes that any statement sets, of a class or its objects; `setattr` where some aren't named."""
    nodes = [*ast.walk(module)]
    called = {node.id for node in nodes if isinstance(node, ast.Name) and node.id == _SETATTR}
    return called | {
        node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }


def _call(operation: Operation) -> str:
    """Return the fields that a case gives, for readers."""
    always = _always(operation)
    told = (name if name in always else f"{name} (may be left out)" for name in operation.fields)
    return ", ".join(told) or "nothing"


def _always(operation: Operation) -> list[str]:
    return [name for name, field in operation.fields.items() if field.default is not None or not field.optional]


def _misfit(method: ast.FunctionDef, operation: Operation | None) -> str:
    """Return why a method can't be called as the adapter does; empty where it can.

    Cases give an operation's fields by name, with those that may be left out or without. None stands for the class
    itself, which gets a clock.
    """
    if method.decorator_list:
        return ""
    signature = _signature(method.args)
    try:
        if operation is None:
            signature.bind(None, None)
            return ""
        for names in (operation.fields, _always(operation)):
            signature.bind(None, **dict.fromkeys(names))
    except TypeError as error:
        return str(error)
    return ""


def _signature(args: ast.arguments) -> Signature:
    """Return the parameters of a function's text; each default is None."""
    plain = [*args.posonlyargs, *args.args]
    without = len(plain) - len(args.defaults)
    found = [
        Parameter(
            each.arg,
            Parameter.POSITIONAL_ONLY if number < len(args.posonlyargs) else Parameter.POSITIONAL_OR_KEYWORD,
            default=Parameter.empty if number < without else None,
        )
        for number, each in enumerate(plain)
    ]
    found += [Parameter(args.vararg.arg, Parameter.VAR_POSITIONAL)] if args.vararg else []
    found += [
        Parameter(each.arg, Parameter.KEYWORD_ONLY, default=None if default else Parameter.empty)
        for each, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
    ]
    found += [Parameter(args.kwarg.arg, Parameter.VAR_KEYWORD)] if args.kwarg else []
    return Signature(found)


async def prompt_problems(subject: Subject) -> list[Problem]:
    """Return what agents are told that would give the design away: what a mutant or a silence is, in its words."""
    task, told = design_task(subject.task), subject.task.prompt
    texts = [*(item.what for item in task.design.silences), *(item.what for item in task.design.mutants)]
    problems = [
        Problem(where=subject.at(REQUIREMENT, text), message=f"it has the words of {DESIGN}: {text!r}")
        for text in texts
        if text in told
    ]
    return [*problems, *_unused(subject, task)]


def _unused(subject: Subject, task: DesignTask) -> Iterator[Problem]:
    """Yield operations and outcomes that the reference never uses: nobody needs them, or a case is missing."""
    try:
        cases = task.cases(REFERENCE)
    except UserError:  # said of the files
        return
    used = {step.op for case in cases for step in (*case.given, case.when)} | {case.then.outcome for case in cases}
    for name in (*task.vocabulary.operations, *task.vocabulary.outcomes):
        if name not in used:
            where = subject.at(VOCABULARY, f"{name}:")
            yield Problem(where=where, message=f"no case of {REFERENCE} uses {name!r}", severity=Severity.WARNING)


async def change_problems(subject: Subject) -> list[Problem]:
    """Return silences and mutants that fit no place, change nothing, leave no Python, or are there twice.

    Where this machine never built the image of the base task's repository, only the adapter's files are known: a
    change of another that doesn't fit ends the reference's judging.

    Raises:
        UserError: The base task's tree can't be made.
    """
    task = design_task(subject.task)
    try:
        subject_text = adapter_files(task).get(SUBJECT)
    except UserError:  # said of the files
        return []
    if subject_text is not None and (python_fault(subject_text) or not subject_text.strip()):
        return []  # that is said of the files, and each change would only say it again
    async with _base_tree(task) as tree:
        changes = _Changes(await texts_of(task, tree), task.base is None or tree is not None)
    where, path = subject.at(DESIGN), task.path(DESIGN)
    return [
        Problem(where=f"{where}:{line_of_key(path, *place)}", message=words) for place, words in changes.faults(task)
    ]


@asynccontextmanager
async def _base_tree(task: DesignTask) -> AsyncIterator[GitTree | None]:
    if task.base is None:
        yield None
        return
    async with kept_tree(task.base) as tree:
        yield tree


def _no_probe(task: DesignTask, name: str) -> str:
    assert task.base is not None  # design.yaml is read so
    return "" if name in {probe.name for probe in task.base.probes} else f"{task.base.id} has no probe {name!r}"


class _Changes:
    """The changes of a design, tried one by one. `is_whole` is whether `texts` has each file that there is."""

    def __init__(self, texts: Mapping[str, str], is_whole: bool) -> None:
        self._texts, self._is_whole = texts, is_whole
        self._other = dict(texts)
        self._ids: dict[tuple[str, ...], str] = {}

    def faults(self, task: DesignTask) -> Iterator[tuple[tuple[str, int], str]]:
        """Yield what is wrong with a design's changes, each with the keys that lead to it in `design.yaml`."""
        for number, silence in enumerate(task.design.silences):
            if words := self._added(silence):
                yield ("silences", number), f"silence {silence.what!r}: {words}"
        for number, mutant in enumerate(task.design.mutants):
            if words := self._mutant(task, mutant):
                yield ("mutants", number), f"{mutant.id}: {words}"

    def _added(self, silence: Change) -> str:
        """Return what is wrong with a change that comes upon those before it; empty where nothing is."""
        words, made = self._made(silence, self._other)
        if made:
            self._other[silence.file] = made
        return words

    def _mutant(self, task: DesignTask, mutant: MutantSpec) -> str:
        """Return what is wrong with a mutant: by itself, or since an earlier one is the same."""
        key: tuple[str, ...]
        if mutant.probe:
            words, key = _no_probe(task, mutant.probe), (mutant.probe,)
        else:
            words, made = self._made(mutant.change, self._texts)
            key = (mutant.file, made) if made else (mutant.file, mutant.find, mutant.put)
        if words:
            return words
        other = self._ids.setdefault(key, mutant.id)
        return "" if other == mutant.id else f"makes the same as {other}; leave one out"

    def _made(self, change: Change, texts: Mapping[str, str]) -> tuple[str, str]:
        """Return what is wrong with a change, and the text that it makes; both empty where its file isn't known."""
        text = texts.get(change.file)
        if text is None:
            return "" if not self._is_whole else f"there is no text file {change.file!r} to change", ""
        if words := change.misfit(text):
            return words, ""
        made = text.replace(change.find, change.put)
        if made == text:
            return "find and put are the same", ""
        fault = python_fault(made.encode()) if change.file.endswith(".py") else None
        if fault and not python_fault(text.encode()):
            return f"{change.file}:{fault.line} {fault.words}", ""
        return "", made
