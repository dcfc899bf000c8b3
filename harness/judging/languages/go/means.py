"""Names of Go's means that behaviour doesn't need."""

import re

from harness.judging.languages.conduct import words_of

PACKAGES = re.compile(
    r"go/.+|debug/.+|plugin|unsafe|runtime/(trace|pprof|coverage)|net/http/pprof|internal/.+|"
    r"golang\.org/x/(tools|arch)/.+"
)
NAMES = words_of(
    """
    runtime.FuncForPC runtime.CallersFrames runtime.Callers debug.ReadBuildInfo debug.WriteHeapDump os.Executable
    syscall.Mmap syscall.Madvise syscall.Sysinfo syscall.Setpriority
    unix.Setpriority unix.SchedSetaffinity unix.SchedSetAttr
    unix.Mmap unix.Madvise unix.Mincore unix.Fadvise unix.Preadv2 unix.ProcessVMReadv unix.ProcessMadvise
    unix.Cachestat unix.RLIMIT_NPROC unix.Sysinfo
    net.Interfaces net.InterfaceAddrs net.InterfaceByName net.InterfaceByIndex unix.PidfdOpen
    unix.RLIMIT_SIGPENDING unix.RLIMIT_MSGQUEUE unix.MemfdCreate unix.SO_COOKIE build.Import parser.ParseFile
    """
)
COMMON = words_of("build.Import parser.ParseFile")
"""Names of the list that variables have as well."""
RAW_CALLS = re.compile(r"(syscall|unix)\.(AllThreads|Raw|RawVfork)?Syscall(\d+|N|NoError)?|(syscall|unix)\.Ptrace\w+")
NAMELESS = words_of("runtime runtime/debug reflect os os/exec syscall golang.org/x/sys/unix go/build")
"""Packages of the list, whose names tests could use without theirs."""
ADDRESSES = frozenset({"Pointer", "UnsafePointer", "UnsafeAddr"})
SIZES = words_of("Sizeof Alignof Offsetof")
"""Functions of `unsafe` that tell of types; without anything else of it, a file shows no code."""
GO_FLAGS = re.compile(rb"GO\w*FLAGS|GODEBUG|GOROOT|toolexec")
"""Text by which the go command may show code while it runs a program."""
READERS = re.compile(
    r"(os|ioutil)\.(ReadFile|Open|OpenFile|Stat|Lstat|ReadDir|Readlink)|filepath\.(Glob|Walk|WalkDir|EvalSymlinks)|"
    r"(syscall|unix)\.(Open|Openat|Stat|Lstat)|(.*\.)?Parse(Files|Glob)"
)
FOLDER_READERS = re.compile(r"fs\.(ReadFile|Stat|ReadDir|Glob|WalkDir)|template\.ParseFS")
"""Readers of a folder that they are given; it may be one that the tests make up."""
FOLDERS = re.compile(r"os\.(Chdir|DirFS|OpenRoot|OpenInRoot)|http\.Dir|(syscall|unix)\.Chdir")
"""Calls after which paths go on from a folder."""
ALL_FILES = frozenset({"*", "*.*", "./*", "./*.*"})
"""Patterns for all files of the package's folder."""
MOVES = re.compile(rb'\bChdir\((?!"\.?/?")|\.Dir\s*=\s*(?!"\.?/?"|=)|\bDir:\s*(?!"\.?/?")')
"""Text by which that is another folder, for the tests or for what they start."""
PRINTERS = re.compile(
    r"(.*/)?(cat|head|tail|tac|nl|cut|sed|awk|grep|sort|wc|cmp|diff|base64|cksum|(md5|sha\d+|b2)sum)"
)
"""Programs that show what is in the files that they are given."""
HERE = frozenset({"os.Getwd", "runtime.Caller"})
"""Calls that tell where the package is."""
RUNNERS = frozenset(
    {"exec.Command", "exec.CommandContext", "exec.LookPath"}
    | {"os.StartProcess", "syscall.StartProcess", "syscall.ForkExec", "syscall.Exec", "unix.Exec"}
)
SOURCE = re.compile(r"(?!(.*/)?testdata/|.*_test\.go).*\.(go|s|a|so|o)")
EMBEDDED = re.compile(r"(?!(.*/)?testdata(/|$))(.*\.(go|s)|[*.]+|.*\*\.?\w*\.go)")
PREDECLARED = words_of(
    """
    append cap close complex copy delete imag len make new panic real recover true false iota nil
    bool byte complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string
    uint uint8 uint16 uint32 uint64 uintptr
    """
)
"""Names that every package knows; without those that Go got late: older suites have functions of these names."""
