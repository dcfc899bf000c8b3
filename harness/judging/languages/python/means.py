"""Names of Python's means that behaviour doesn't need, and of what tells where they are used."""

import re
from collections.abc import Iterable

from harness.judging.languages.conduct import Around, place_words, words_of
from harness.judging.languages.python.running import RUNNING

ATTRIBUTES = words_of(
    """
    __code__ __loader__ __spec__ __cached__ func_code gi_code cr_code ag_code f_code tb_lasti f_lasti
    co_code co_consts co_varnames co_lines co_linetable co_lnotab co_firstlineno co_exceptiontable
    co_positions co_stacksize co_freevars co_cellvars co_argcount co_nlocals co_flags co_filename
    co_qualname source_to_code SourceFileLoader SourcelessFileLoader MAGIC_NUMBER RWF_NOWAIT
    """
)
MODULES = re.compile(
    r"(dis|marshal|_?ctypes|cffi|_?opcode|coverage|_lsprof|modulefinder|pyclbr|_posixsubprocess|py_compile"
    r"|compileall|zipimport|linecache|symtable|bytecode|bdb|trace|cProfile"
    r"|importlib\.(machinery|_bootstrap\w*|abc)|_pytest\.(timing|junitxml))(\..*)?"
)
NAMES = words_of(
    """
    inspect.getsource inspect.getsourcelines inspect.getsourcefile inspect.getfile inspect.findsource
    inspect.getblock inspect.getcomments inspect.getabsfile inspect.getinnerframes inspect.trace
    gc.get_referrers gc.get_referents sys.settrace sys.setprofile sys.call_tracing
    sys.monitoring sys.meta_path sys.path_hooks sys.path_importer_cache threading.settrace
    threading.setprofile threading.settrace_all_threads threading.setprofile_all_threads
    os.getloadavg os.nice os.setpriority os.sched_setaffinity os.sched_setscheduler os.sched_setparam
    os.posix_fadvise os.memfd_create os.pidfd_open socket.if_nameindex socket.if_nametoindex socket.if_indextoname
    resource.RLIMIT_SIGPENDING resource.RLIMIT_NPROC
    resource.RLIMIT_MSGQUEUE signal.SIGRTMIN signal.SIGRTMAX importlib.util.spec_from_file_location
    importlib.util.spec_from_loader importlib.util.module_from_spec importlib.util.cache_from_source
    importlib.util.source_from_cache importlib.util.source_hash types.CodeType runpy.run_path
    code.InteractiveInterpreter code.InteractiveConsole code.compile_command code.interact codeop.compile_command
    codeop.CommandCompiler codeop.Compile profile.run profile.runctx profile.Profile pdb.run pdb.runeval pdb.runctx
    pdb.Pdb
    """
)
SIGNALS = words_of("signal.SIGRTMIN signal.SIGRTMAX")
"""Names that count only where a file sends signals, or holds them back: those that wait are counted by user."""
SENDERS = words_of(
    "kill killpg pthread_kill raise_signal send_signal pthread_sigmask sigwait sigwaitinfo sigtimedwait sigpending"
    " getattr ctypes pidfd_send_signal setitimer"
)
COMMON = words_of("trace run runctx runeval interact Profile Compile")
"""Last parts of these names that many other things have too."""
RUNNERS = re.compile(
    r"subprocess\.(run|Popen|call|check_call|check_output|getoutput|getstatusoutput)|os\.(system|popen|exec\w+|spawn\w+"
    r"|posix_spawnp?)|asyncio\.(subprocess\.)?create_subprocess_(exec|shell)|pty\.spawn|(.*\.)?subprocess_(exec|shell)"
)
NUMBERS = frozenset({"st_ino", "ST_INO"})
"""Names of a number in a file's status."""
STATUS = re.compile(r"[fl]?stat")
READERS = words_of("open FileIO read_text read_bytes get_data stat lstat glob rglob iglob getsize getmtime as_file")
COMPARERS = words_of("filecmp.cmp filecmp.cmpfiles")
LISTERS = words_of(
    "os.listdir os.scandir os.symlink os.link shutil.copy shutil.copy2 shutil.copyfile fileinput.input"
)
"""Calls whose paths count where they lead out of a container, not where they lead to code."""
OPENERS = words_of("open io.open codecs.open os.fdopen tokenize.open")
"""Calls that are given the path first, and then how it is opened; methods of paths are given only that."""
GLOBS = words_of("glob rglob")
LOADERS = words_of("import_module __import__ find_spec importorskip resolve_name")
OF_LOADERS = words_of("get_source get_code get_filename")
MOST_RUNNING = 500
"""Names of builtins that run text: in a file with more of them, none is taken for the file's own."""
MEMBERS = {"attribute": "attribute", "keyword_argument": "name"}
"""Fields whose names are no variables."""
TIMERS = words_of("timeit.timeit timeit.repeat timeit.Timer")
"""They run text as code where they are given some."""
BY_NAME = words_of("getattr hasattr operator.attrgetter operator.methodcaller")
ASKING = words_of("getoption getvalue getattr hasattr hasplugin has_plugin getplugin get_plugin")
"""Calls that ask pytest for an option or a plugin by its name."""
CONFIGS = words_of("config pytestconfig")
"""Names by which tests have pytest's options."""
FOLDERS = words_of("parent parents dirname with_name")
ENCODING = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
PLAIN_ENCODING = re.compile(
    r"utf[-_]?8([-_](sig|unix|dos|mac))?|(us[-_])?ascii|latin[-_]?1|iso[-_]?8859[-_]\d+|cp125\d", re.I
)
"""Encodings in which Python reads the text that the grammar reads."""
SOURCE = re.compile(
    r"(?!(.*/)?(fixtures?|test_?data)/|(.*/)?(test_[^/]*|[^/]*_test|conftest)\.py$).*\.(py|pyc|pyo|so)"
)
COMPILED = re.compile(r".*(/__pycache__/.*|\.py[co])")
FORMATS = frozenset({"format", "format_map"})
FORMATTED = re.compile(rf"\{{[^{{}}]*?\.({'|'.join(sorted(ATTRIBUTES))})\b")
"""A format that takes a listed attribute of what it is given."""
IN_ORDER = re.compile(r"os\.spawn\w+|(.*\.)?subprocess_(exec|shell)")
"""Runners that are given something else before the command."""
SHOWING = words_of("tokenize ast inspect pdb")
"""Modules that show a file's code where Python runs them."""
PRINTERS = words_of(
    "cat head tail wc sed awk grep diff cmp od cp sha1sum sha224sum sha256sum sha512sum md5sum cksum base64 sum sort"
)
"""Programs that show what is in the files that they are given."""
PYTHON = re.compile(r"(.*/)?python[\d.]*")
WRITING = re.compile(r"[wx][bt+]*|a[bt]?")
"""Modes of opening a file in which nothing of what was there before is read."""


def asked_words(call: str, texts: Iterable[str]) -> str:
    """Return in words what options or plugins of these names tell that a call asks for; empty for others."""
    options = ("xmlpath" if "plugin" in call and text == "junitxml" else text for text in texts)
    return next(filter(None, (place_words(option, Around.NOTHING) for option in options)), "")


def matters(whole: str) -> bool:
    """Return whether a whole name is one of a list, so that a name that may be it counts as it."""
    is_listed = whole in NAMES or whole in LISTERS or whole in TIMERS or whole in BY_NAME
    return is_listed or whole in RUNNING or whole == "sys.modules" or RUNNERS.fullmatch(whole) is not None
