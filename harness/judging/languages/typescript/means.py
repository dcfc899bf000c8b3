"""Names of TypeScript's means that behaviour doesn't need, and of what tells where they are used."""

import re

from harness.judging.languages.conduct import words_of

_MODULES = re.compile(
    r"(node:)?(inspector(/promises)?|module|trace_events|vm)|data:.*"
    r"|(.*/node_modules/)?((esbuild(-wasm)?|typescript|rollup|tsx|vite-node)(/.*)?|vite(/(?!client$).*)?|tinypool|sucrase"
    r"|@?babel(/.*)?|acorn([-/].*)?|@?swc(/.*)?|magic-string|source-map(-.*)?|oxc-(parser|transform)|ts-morph"
    r"|esprima|espree|meriyah|recast|jiti|ts-node(/.*)?|rolldown|terser|uglify-js|@typescript-eslint/parser"
    r"|istanbul-.*|v8-to-istanbul|@jridgewell/trace-mapping)"
)
_QUERY = re.compile(r"(.*&)?(raw|url|inline|worker)(&.*)?")
_DATA = re.compile(
    r".*\.(md|txt|html?|css|s[ac]ss|less|styl|json5?|csv|ya?ml|toml|xml|svg|png|jpe?g|gif|webp|ico|wasm|glsl|graphql|sql)"
)
"""Files that are no code."""
_TEXT = ".txt"
"""A suffix that only a query makes data of."""
_NO_CODE_OF_MODULE = frozenset({"createRequire", "builtinModules", "isBuiltin"})
"""Names of `node:module` that show no code."""
NAMES = words_of(
    """
    Function.prototype Function.prototype.toString process.binding process._linkedBinding process.dlopen
    process.report require.cache module.children
    Error.prepareStackTrace import.meta.glob import.meta.resolve v8.getHeapSnapshot v8.writeHeapSnapshot
    v8.takeCoverage v8.cachedDataVersionTag v8.startupSnapshot v8.queryObjects os.loadavg os.freemem
    os.setPriority os.networkInterfaces
    process.availableMemory
    """
)
LAST_NAMES = frozenset(name.rpartition(".")[2] for name in NAMES)
IMPORTERS = words_of("require import process.getBuiltinModule module.require vi.importActual vitest.vi.importActual")
MADE_CODE = frozenset({"eval", "Function"})
GLOBALS = re.compile(r"__vite_\w+__|__vitest_\w+__|__coverage__|__v8_coverage__|__vite_ssr_\w+")
READERS = re.compile(
    r"(readFile|open|stat|lstat|readdir|createReadStream|access|glob|watch)(Sync)?|openAsBlob|ReadStream"
)
LISTERS = re.compile(r"(copyFile|cp|symlink|link|opendir)(Sync)?")
"""Members of `fs` whose paths count where they lead out of a container, not where they lead to code."""
PLAIN_READERS = re.compile(r"(fs\.(promises\.)?\w+|(readFile|readdir|createReadStream)(Sync)?|\w+Sync)")
"""Readers that nobody takes for anything else where a file doesn't say whose they are."""
RUNNERS = re.compile(r"(exec|execFile|spawn|fork)(Sync)?")
SOURCE = re.compile(
    r"(?!(.*/)?((\w+[-.])?_*fixtures?_*|_*test[-_]?data_*|__samples__)/|.*\.(test|spec)\.).*\.([cm]?[jt]sx?|map|node)"
)
ENGINE_FLAG = re.compile(r"--(allow.natives.syntax|print.(opt.|wasm.)?(bytecode|code|ast)|inspect\b).*")
NUMBERED = re.compile(r"(node:)?(net|tls|dgram|child_process|cluster|https?|http2)")
"""Modules whose pipes and sockets the kernel numbers from one counter for all arms."""
TO_TEXT = frozenset({"String", "encodeURI", "encodeURIComponent", "Error", "TypeError", "RangeError", "SyntaxError"})
"""Functions that make a text of what they are given."""
MADE_OF_TEXT = TO_TEXT | {"URL", "URLSearchParams", "Blob", "File"}
"""Classes of which the same is true."""
OF_STRINGS = words_of("concat includes startsWith endsWith indexOf lastIndexOf localeCompare")
"""Methods of a string that take a text."""
MAPPERS = frozenset({"map", "flatMap"})
PRINTERS = frozenset({"JSON.stringify", "util.inspect", "util.format", "String"})
TEXTS = frozenset({"toString", "toLocaleString"})


def module_words(module: str, names: frozenset[str] = frozenset()) -> str:
    """Return in words what is imported, by a module and by the names that are taken of it, if these are known."""
    path, _, query = module.partition("?")
    is_code = _QUERY.fullmatch(query) is not None and _DATA.fullmatch(path) is None
    is_harmless = path.removeprefix("node:") == "module" and bool(names) and names <= _NO_CODE_OF_MODULE
    return f"imports {module}" if is_code or (_MODULES.fullmatch(module) and not is_harmless) else ""


def is_data(path: str) -> bool:
    """Return whether a path, or a pattern of paths, is one of files that are no code."""
    return _DATA.fullmatch(path) is not None


def code_path(module: str, *, is_required: bool) -> str:
    """Return the path of what is imported as code; empty for data. `require` runs all but suffixes that it knows."""
    path, _, query = module.partition("?")
    is_data = _DATA.fullmatch(path) is not None and not path.endswith(_TEXT) and not is_required
    return "" if is_data or _QUERY.fullmatch(query) else path
