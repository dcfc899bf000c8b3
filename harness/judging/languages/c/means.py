"""Names of C's means that behaviour doesn't need."""

import re

from harness.judging.languages.conduct import words_of

HEADERS = words_of("dlfcn.h elf.h link.h gelf.h libelf.h bfd.h dis-asm.h sys/ptrace.h linux/perf_event.h")
CALLS = words_of(
    """
    dlopen dlmopen dlsym dlvsym dladdr dladdr1 dlinfo dl_iterate_phdr __libc_dlsym __libc_dlopen_mode
    _dl_find_object backtrace backtrace_symbols backtrace_symbols_fd ptrace
    mincore madvise process_madvise posix_fadvise posix_fadvise64 readahead preadv2 preadv64v2 mprotect
    process_vm_readv perf_event_open getauxval syscall memfd_create sigqueue pthread_sigqueue
    sysinfo getloadavg get_avphys_pages cachestat pkey_mprotect nice setpriority
    sched_setaffinity sched_setscheduler sched_setparam sched_setattr pthread_setaffinity_np
    getifaddrs if_nameindex if_nametoindex if_indextoname pidfd_open
    """
)
ADDRESSES = words_of(
    """
    etext _etext __etext __executable_start _start _init _fini _DYNAMIC __data_start data_start _edata edata _end
    __bss_start __ehdr_start __init_array_start __GNU_EH_FRAME_HDR _GLOBAL_OFFSET_TABLE_ _r_debug
    """
)
"""Addresses of the program."""
SYMBOLS = ADDRESSES | words_of(
    "RLIMIT_SIGPENDING RLIMIT_NPROC RLIMIT_MSGQUEUE SIGRTMIN SIGRTMAX SO_COOKIE _SC_AVPHYS_PAGES"
)
"""Those, and what the kernel counts by user or for the whole machine: in one arm it tells of others."""
ASSEMBLER = words_of("asm __asm __asm__")
OTHER_NAMES = frozenset(
    {f"{around}{word}{around}" for word in ("weakref", "alias", "ifunc") for around in ("", "__")}
)
"""Attributes by which a name stands for another one."""
RENAMES = re.compile(r"\s*(?:(redefine_extname)\b|(weak)\s+\w+\s*=)")
"""Pragmas by which it does; one that only makes a name weak is none."""
SHELL = frozenset({"system", "popen"})
RUNNERS = re.compile(r"exec[lv]p?e?|posix_spawnp?|execvpe|execveat")
READERS = words_of(
    """
    fopen fopen64 open open64 openat openat64 freopen freopen64 stat stat64 lstat lstat64 fstatat fstatat64 statx
    access faccessat readlink readlinkat realpath opendir scandir mmap json_load_file
    """
)
OPENERS = words_of(
    "fopen fopen64 open open64 openat openat64 freopen freopen64 stat stat64 lstat lstat64 fstatat fstatat64 statx"
)
"""Calls that show a program where they are given its name, not only where it lies."""
PROGRAMS = words_of("program_invocation_name program_invocation_short_name __progname __progname_full")
"""Names of the running program; so is the first word that it is given."""
FORMATS = {"sprintf": 1, "asprintf": 1, "snprintf": 2}
"""Calls that write a text, with the place of its form."""
SOURCE_FOLDERS = re.compile(r'"(?:abs_)?(?:top_)?(?:src|build)dir"')
"""Variables of the environment by which tests find the sources and the library."""
SHELL_SOURCE = re.compile(
    r"""(?:^|[\s"'<=])(?:\$\{?(?:abs_)?(?:top_)?(?:src|build)dir\}?|\.{1,2})/[^\s"';|&]*\.(?:c|h|o|a|so|lo|la)(?![\w.])"""
)
"""A file of code in a command for a shell."""
FOLDERS = frozenset({"chdir"})
"""Calls after which paths go on from a folder."""
WRITING = words_of("w wb wx a ab")
"""Modes of a file that can't be read."""
COPIES = re.compile(
    r"(?:__builtin_)?(?:__)?(?:mem(?:cpy|pcpy|ccpy|cmp|move|chr|rchr|mem)|rawmemchr|bcmp|bcopy|strn?cpy|strncmp)(?:_chk)?|"
    r"fwrite|p?write|send|sendto|bsearch"
)
"""Calls that copy or compare what the first of their pointers lead to."""
SOURCE = re.compile(r".*\.(c|h|o|a|so|lo|la)(\.\d+)*")
