"""The filter of a local job's system calls, as classic BPF: nothing that evicts cached pages, or asks about them.

Sandboxes of this machine share the page cache of its own files. What such calls do to it would tell one arm what
another one found. So would the cookies of sockets, which are counted for the whole machine, and which netlink tells
as well; so would flow labels, of which the machine has few, and sockets of virtual machines, which are in no
namespace, and the numbers of files in memory. Nor does it set limits of other processes: the first one of its
sandbox, which nothing can kill there, would end by them. And which cores a job has, and how urgent it is, it can't
change: one that had others wait, or itself, would look like one of a busy machine.
All else stays as it is: bubblewrap's namespaces are what confines a job. The calls are those that
`sandbox/docker/seccomp.json` leaves out.
"""

import platform
import struct
from collections.abc import Sequence
from typing import NamedTuple

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
"""Operations of classic BPF: load a word of the call, three jumps that compare it with a constant, and the end."""
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_DONE, _NOT_PERMITTED, _NO_SUCH_CALL, _NO_SUCH_PROTOCOL = _ERRNO, _ERRNO | 1, _ERRNO | 38, _ERRNO | 93
"""Results of a call that isn't made. Advice about a file may be ignored, so that one seems to have been taken."""
_NUMBER, _ARCHITECTURE = 0, 4
_ARGUMENTS, _ARGUMENT_BYTES = 16, 8
_X32 = 0x40000000
"""Numbers from here on are calls of a second interface of x86-64, and of no other machine."""
_COLD, _PAGE_OUT, _COLLAPSE = 20, 21, 25
_NO_WAIT_OR_DROP = 0x08 | 0x80
_COOKIE, _PASS_PROCESS, _PEERS_PROCESS = 57, 76, 77
"""Options of sockets."""
_PORT_RANGE, _FLOW_LABELS = (0, 51), (41, 32)
"""Options of sockets, with the protocols that have them."""
_NETLINK, _VIRTUAL_MACHINES = 16, 40
"""Kinds of sockets."""
_OF_NETLINK = (0, 15, 16)
"""Protocols of netlink: addresses and routes, devices, families by name. Lists of sockets (4) aren't among them."""
_AUDIT = 9
"""Another one: `su` ends where it is refused, and goes on where there is none."""
_CLONE_WITH_FILE = 0x1000


class _Calls(NamedTuple):
    """A machine's number for its kind, and those of its calls that matter here."""

    machine: int
    fadvise64: int
    mincore: int
    madvise: int
    preadv2: int
    io_setup: int
    getsockopt: int
    setsockopt: int
    socket: int
    clone: int
    memfd_create: int
    sched_setaffinity: int
    sched_setscheduler: int
    sched_setparam: int
    sched_setattr: int
    setpriority: int
    prlimit64: int

    @property
    def without_effect(self) -> tuple[int, ...]:
        """The numbers of those that seem to have been made."""
        return (
            self.fadvise64, self.sched_setaffinity, self.sched_setscheduler, self.sched_setparam, self.sched_setattr,
            self.setpriority,
        )  # fmt: skip


_MACHINES = {
    "x86_64": _Calls(
        0xC000003E, fadvise64=221, mincore=27, madvise=28, preadv2=327, io_setup=206,
        getsockopt=55, setsockopt=54, socket=41, clone=56, memfd_create=319,
        sched_setaffinity=203, sched_setscheduler=144, sched_setparam=142, sched_setattr=314, setpriority=141,
        prlimit64=302,
    ),
    "aarch64": _Calls(
        0xC00000B7, fadvise64=223, mincore=232, madvise=233, preadv2=286, io_setup=0,
        getsockopt=209, setsockopt=208, socket=198, clone=220, memfd_create=279,
        sched_setaffinity=122, sched_setscheduler=119, sched_setparam=118, sched_setattr=274, setpriority=140,
        prlimit64=261,
    ),
}  # fmt: skip
_IO_URING_SETUP, _PIDFD_OPEN, _CLONE3, _PROCESS_MADVISE, _MEMFD_SECRET, _CACHESTAT = 425, 434, 435, 440, 447, 451
"""Numbers that are the same everywhere."""


def call_filter(machine: str = platform.machine()) -> bytes:
    """Return the filter for bubblewrap's `--seccomp`; nothing for a machine whose numbers aren't known here."""
    calls = _MACHINES.get(machine)
    if calls is None:
        return b""
    program = [
        *_load(_ARCHITECTURE), *_unless_equal(calls.machine, _NOT_PERMITTED),
        *_load(_NUMBER), *_if(_AT_LEAST, _X32, _NOT_PERMITTED),
    ]  # fmt: skip
    for number in calls.without_effect:
        program += _if(_EQUAL, number, _DONE)
    for number in (calls.mincore, _PROCESS_MADVISE, _CACHESTAT):
        program += _if(_EQUAL, number, _NOT_PERMITTED)
    # The first two carry such calls out of sight of a filter, and the third one its flags. Files of the others have
    # numbers that are counted for the whole machine.
    for number in (calls.io_setup, _IO_URING_SETUP, _CLONE3, _PIDFD_OPEN, calls.memfd_create, _MEMFD_SECRET):
        program += _if(_EQUAL, number, _NO_SUCH_CALL)
    advice = [step for advice in (_COLD, _PAGE_OUT, _COLLAPSE) for step in _if(_EQUAL, advice, _NOT_PERMITTED)]
    program += _of_argument(calls.madvise, 2, advice)
    program += _of_argument(calls.preadv2, 5, _if(_ANY_BIT, _NO_WAIT_OR_DROP, _NOT_PERMITTED))
    asked = [step for option in (_COOKIE, _PEERS_PROCESS) for step in _if(_EQUAL, option, _NOT_PERMITTED)]
    program += _of_argument(calls.getsockopt, 2, asked)
    given = _if(_EQUAL, _PASS_PROCESS, _NOT_PERMITTED)
    for protocol, option in (_PORT_RANGE, _FLOW_LABELS):
        given += _where(option, [*_argument(1), *_if(_EQUAL, protocol, _NOT_PERMITTED), *_argument(2)])
    program += _of_argument(calls.setsockopt, 2, given)
    asked = [step for protocol in _OF_NETLINK for step in _if(_EQUAL, protocol, _ALLOW)]
    asked += _if(_EQUAL, _AUDIT, _NO_SUCH_PROTOCOL)
    asked = _where(_NETLINK, [*_argument(2), *asked, *_return(_NOT_PERMITTED)])
    program += _of_argument(calls.socket, 0, [*_if(_EQUAL, _VIRTUAL_MACHINES, _NOT_PERMITTED), *asked])
    program += _of_argument(calls.clone, 0, _if(_ANY_BIT, _CLONE_WITH_FILE, _NOT_PERMITTED))
    given = [step for half in (0, 4) for step in [*_argument(2, half), *_unless_equal(0, _NOT_PERMITTED)]]
    program += _of_argument(calls.prlimit64, 0, [*_if(_EQUAL, 0, _ALLOW), *given])
    return b"".join([*program, *_return(_ALLOW)])


def _step(operation: int, constant: int, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("<HBBI", operation, then, otherwise, constant)


def _load(offset: int) -> list[bytes]:
    return [_step(_LOAD, offset)]


def _return(result: int) -> list[bytes]:
    return [_step(_RETURN, result)]


def _if(comparison: int, constant: int, result: int) -> list[bytes]:
    return [_step(comparison, constant, then=0, otherwise=1), *_return(result)]


def _unless_equal(constant: int, result: int) -> list[bytes]:
    return [_step(_EQUAL, constant, then=1, otherwise=0), *_return(result)]


def _of_argument(number: int, argument: int, steps: Sequence[bytes]) -> list[bytes]:
    """Return steps for one call's argument, of which the kernel takes the lower half; it is allowed after them."""
    return _where(number, [*_argument(argument), *steps, *_return(_ALLOW)])


def _argument(number: int, half: int = 0) -> list[bytes]:
    return _load(_ARGUMENTS + number * _ARGUMENT_BYTES + half)


def _where(constant: int, steps: Sequence[bytes]) -> list[bytes]:
    """Return steps that are taken where the word that was loaded last is this one."""
    return [_step(_EQUAL, constant, then=0, otherwise=len(steps)), *steps]
