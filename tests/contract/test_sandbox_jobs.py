"""Jobs: a fresh container's main command. What it is given, what is read from it, and that nothing is left."""

import asyncio
import errno
import os
import threading
from dataclasses import replace
from typing import Any

import docker
import pytest

from harness.sandbox.archives import MAX_OUTPUT_FILES, MTIME
from harness.sandbox.docker import warming
from harness.sandbox.protocol import MAX_OUTPUT_BYTES, Engine, Image, Job, JobResult, LimitReached, PlacedFile
from tests.support.sandboxes import (
    OPTIONS,
    RUN,
    UNCONFINED,
    eventually,
    is_podman,
    labels,
    labels_here,
    processes_with,
)

LABELS = labels("job")


async def run(engine: Engine, image: Image, script: str, job: Job | None = None) -> JobResult:
    job = job or Job((), seconds=30)
    return await engine.run_job(image, replace(job, argv=("bash", "-c", script, "bash", *job.argv)), OPTIONS, LABELS)


def left_behind(kind: str) -> list[object]:
    if kind != "docker":
        return [directory for directory, of_it in labels_here(kind) if of_it.items() >= LABELS.items()]
    client = docker.from_env()
    try:
        return list(
            client.api.containers(all=True, filters={"label": ["testwright=1", f"testwright.test=job-{RUN}"]})
        )
    finally:
        client.close()


async def test_a_job_tells_its_status_its_log_and_its_outputs(engine: Engine, image: Image, kind: str) -> None:
    script = (
        "pwd >&2; cat present.txt; cat; echo out; echo err >&2; mkdir -p $TESTWRIGHT_REPORT_DIR/deep/er;"
        "cd $TESTWRIGHT_REPORT_DIR; printf 'a\\0b' > 1.xml; echo deep > deep/er/2.xml;"
        "echo odd > $'new\\nline'; exit 7"
    )
    result = await run(engine, image, script)
    assert (result.exit_status, result.timed_out, result.out_of_memory, result.complete) == (7, False, False, True)
    assert result.log.split() == [result.log.split()[0], b"present", b"out", b"err"]
    assert result.log.split()[0] == b"/app" or kind in UNCONFINED
    assert result.outputs == {"1.xml": b"a\0b", "deep/er/2.xml": b"deep\n", "new\nline": b"odd\n"}
    assert 0 < result.seconds < 30
    assert left_behind(kind) == []


async def test_a_job_has_its_own_environment_and_arguments(engine: Engine, image: Image) -> None:
    job = Job(("a b", "-n", "$(id)", "*"), env={"OF_THE_JOB": "x y"}, seconds=30)
    result = await run(engine, image, 'printf "%s|" "$FROM_IMAGE" "$OF_THE_JOB" "$@"', job)
    assert result.log == b"yes|x y|a b|-n|$(id)|*|"


@pytest.mark.parametrize(("script", "status"), [("kill -9 $$", 137), ("kill -TERM $$", 143), ("true", 0)])
async def test_a_job_ended_by_a_signal_says_so(engine: Engine, image: Image, script: str, status: int) -> None:
    assert (await run(engine, image, f"{script}; :")).exit_status == status


async def test_a_job_that_takes_too_long_is_killed_with_all_it_started(
    engine: Engine, image: Image, kind: str
) -> None:
    script = (
        f"echo begun; echo half > $TESTWRIGHT_REPORT_DIR/half; setsid sleep {RUN}8651.1 & sleep {RUN}8651.2 & wait"
    )
    result = await run(engine, image, script, Job((), seconds=0.3))
    assert result.timed_out
    assert result.log == b"begun\n"
    assert result.outputs == {"half": b"half\n"}
    assert processes_with(f"{RUN}8651.") == []
    assert left_behind(kind) == []


async def test_what_a_job_leaves_running_is_dead_and_holds_nothing_up(engine: Engine, image: Image) -> None:
    result = await run(engine, image, f"(setsid sleep {RUN}8652.1 &); sleep {RUN}8652.2 & echo done")
    assert (result.exit_status, result.timed_out, result.log) == (0, False, b"done\n")
    assert processes_with(f"{RUN}8652.") == []


async def test_a_job_that_closes_its_output_is_waited_for(engine: Engine, image: Image) -> None:
    result = await run(engine, image, "exec >&- 2>&-; sleep 0.3; : > $TESTWRIGHT_REPORT_DIR/late; exit 3")
    assert (result.exit_status, set(result.outputs)) == (3, {"late"})


async def test_a_jobs_log_keeps_head_and_tail(engine: Engine, image: Image) -> None:
    result = await run(engine, image, "echo first; head -c 5000000 /dev/zero; echo last")
    assert len(result.log) == MAX_OUTPUT_BYTES
    assert result.log.startswith(b"first\n")
    assert result.log.endswith(b"last\n")


async def test_only_regular_files_are_read_and_no_link_is_followed(engine: Engine, image: Image) -> None:
    script = (
        "cd $TESTWRIGHT_REPORT_DIR; ln -s /etc/passwd link; ln -s / root; mkfifo pipe;"
        "echo a > file; ln -s file inner; mkdir dir; ln -s ../.. dir/up"
    )
    result = await run(engine, image, script)
    assert (result.outputs, result.complete) == ({"file": b"a\n"}, True)


@pytest.mark.parametrize("script", ["rm -rf $TESTWRIGHT_REPORT_DIR", ":"])
async def test_a_job_without_outputs_has_none(engine: Engine, image: Image, script: str) -> None:
    result = await run(engine, image, script)
    assert (result.outputs, result.complete) == ({}, True)


async def test_an_output_directory_replaced_by_a_link_gives_nothing_of_ours(engine: Engine, image: Image) -> None:
    result = await run(engine, image, "d=$TESTWRIGHT_REPORT_DIR; rm -rf $d; ln -s /etc $d")
    assert b"root:" not in b"".join(result.outputs.values())


async def test_outputs_are_cut_by_number_and_by_size(engine: Engine, image: Image) -> None:
    many = f"cd $TESTWRIGHT_REPORT_DIR; touch $(seq {MAX_OUTPUT_FILES + 5})"
    large = "cd $TESTWRIGHT_REPORT_DIR; truncate -s 60M huge"
    results = await asyncio.gather(run(engine, image, many), run(engine, image, large))
    assert [result.complete for result in results] == [False, False]
    assert len(results[0].outputs) <= MAX_OUTPUT_FILES
    assert sum(map(len, results[1].outputs.values())) == 0


async def test_placed_files_have_their_mode_their_owner_and_one_constant_time(engine: Engine, image: Image) -> None:
    files = (
        PlacedFile("/app/pkg/new/code.py", b"print()\n"),
        PlacedFile("/app/present.txt", b"replaced\n", 0o600),
        PlacedFile("/app/-n", b"dash\n"),
        PlacedFile("/app/run me", b"#!/bin/sh\n", 0o755),
        PlacedFile("/logs/report/before", b"there\n"),
    )
    script = (
        "stat -c '%n %a %Y' pkg pkg/new pkg/new/code.py present.txt ./-n 'run me';"
        "[ -O pkg ] && [ -O present.txt ] && cat ./-n present.txt"
    )
    result = await run(engine, image, script, Job((), files, seconds=30))
    assert result.log.decode().splitlines() == [
        f"pkg 755 {MTIME}",
        f"pkg/new 755 {MTIME}",
        f"pkg/new/code.py 644 {MTIME}",
        f"present.txt 600 {MTIME}",
        f"./-n 644 {MTIME}",
        f"run me 755 {MTIME}",
        "dash",
        "replaced",
    ]
    assert result.outputs == {"before": b"there\n"}


async def test_directories_of_the_image_stay_as_they_were(engine: Engine, image: Image, kind: str) -> None:
    if kind in UNCONFINED:  # its /tmp is this machine's
        return
    script = "stat -c '%n %a %u' / /app /tmp /home; stat -c %Y /app"
    plain = await run(engine, image, script)
    files = (PlacedFile("/tmp/x", b""), PlacedFile("/home/agent/x", b""), PlacedFile("/app/x", b""))
    placed = await run(engine, image, script, Job((), files, seconds=30))
    assert placed.exit_status == 0
    if kind == "docker":  # elsewhere the tree is a fresh copy, made at another time
        assert placed.log == plain.log
    assert placed.log.split()[:12] == plain.log.split()[:12]


async def test_nothing_in_a_job_tells_it_from_another(engine: Engine, image: Image, kind: str) -> None:
    if kind in UNCONFINED:  # not declared: its paths differ
        return
    script = "env | sort; id; uname -n; pwd; cat /etc/hosts; umask; ulimit -a | grep -v pending"
    jobs = [
        engine.run_job(image, Job(("bash", "-c", script)), OPTIONS, {**labels(name), "secret": name})
        for name in ("job", "honeytoken")
    ]
    one, two = [result.log for result in await asyncio.gather(*jobs)]
    assert one == two
    assert b"honeytoken" not in one


async def test_jobs_start_from_the_same_tree(engine: Engine, image: Image) -> None:
    await run(engine, image, "echo changed > present.txt; echo > marker; echo > ${TMPDIR:-/tmp}/marker")
    result = await run(engine, image, "cat present.txt; ls; test ! -e ${TMPDIR:-/tmp}/marker")
    assert (result.exit_status, result.log) == (0, b"present\npresent.txt\n")


async def test_a_cancelled_job_leaves_nothing(engine: Engine, image: Image, kind: str) -> None:
    running = asyncio.create_task(run(engine, image, f"sleep {RUN}8653.1; :"))
    await eventually(lambda: bool(processes_with(f"sleep\0{RUN}8653.1")), "the job has not started")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert processes_with(f"{RUN}8653.") == []
    assert left_behind(kind) == []


async def test_a_job_cancelled_while_it_is_made_leaves_nothing(engine: Engine, image: Image, kind: str) -> None:
    running = asyncio.create_task(run(engine, image, f"sleep {RUN}8654.1"))
    await eventually(lambda: bool(left_behind(kind)), "the job has not been made")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert left_behind(kind) == []


async def test_a_job_cancelled_while_its_engine_makes_a_container_leaves_nothing(
    engine: Engine, image: Image, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind != "docker":
        pytest.skip("its jobs have no container that is made by a call")
    create, is_made, may_answer = docker.APIClient.create_container, threading.Event(), threading.Event()

    def created(*args: Any, **kwargs: Any) -> Any:
        answer = create(*args, **kwargs)
        is_made.set()
        assert may_answer.wait(60)
        return answer

    monkeypatch.setattr(docker.APIClient, "create_container", created)
    monkeypatch.setattr(warming, "WARM_SECONDS", 0.0)  # the first container is the one that reads the image
    running = asyncio.create_task(run(engine, image, "true"))
    assert await asyncio.to_thread(is_made.wait, 60)
    running.cancel()
    may_answer.set()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert left_behind(kind) == []


async def test_a_job_that_fills_the_disk_ends_by_name(engine: Engine, image: Image, kind: str) -> None:
    script = "for n in {1..10}; do head -c 8000000 /dev/zero > fill.$n; done; sleep 60"
    with pytest.raises(LimitReached) as caught:
        await run(engine, image, script)
    assert caught.value.limit == "disk"
    assert left_behind(kind) == []


async def test_a_job_that_eats_memory_is_told_apart(engine: Engine, image: Image) -> None:
    script = "exec perl -e '$x = q(x) x 200_000_000; $y = $x x 20'"
    if not engine.capabilities.memory:
        assert engine.name in ("local", "swerex") or is_podman()  # not declared
        return
    result = await run(engine, image, script)
    assert result.out_of_memory
    assert result.exit_status == 137


async def test_a_jobs_commands_see_no_secret_of_ours(
    engine: Engine, image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_API_KEY", "honeytoken")
    assert os.environ["FAKE_API_KEY"]
    assert b"honeytoken" not in (await run(engine, image, "env; cat /proc/self/environ")).log


async def test_a_job_sees_no_counters_of_the_whole_host_that_nobody_needs(
    engine: Engine, image: Image, kind: str
) -> None:
    if kind != "docker":
        pytest.skip("it shows this machine's /proc")
    names = "vmstat diskstats locks key-users sys/fs/dentry-state sys/fs/inode-nr"
    folders = "pressure sys/kernel/pty fs irq /sys/devices/system/node /sys/kernel/mm"
    result = await run(
        engine, image, f"cd /proc; cat {names}; ls -A {folders} | grep -v :; head -c 4 stat; head -c 9 meminfo"
    )
    assert result.log.replace(b"\n", b"") == b"cpu MemTotal:", "what runtimes read stays"


ADVICE = r"""
my ($mmap, $madvise, $mincore, $preadv2) = (`uname -m` =~ /x86_64/) ? (9, 28, 27, 327) : (222, 233, 232, 286);
open(my $file, "<", "/bin/cat"); my $fd = fileno($file);
my $place = syscall($mmap, 0, 8192, 3, 0x22, -1, 0);
my ($found, $buffer) = ("\0" x 64, "\0" x 64);
my $vector = pack("QQ", unpack("Q", pack("P", $buffer)), 1);
my @calls = (
  ["mincore", $mincore, $place, 8192, $found], ["cachestat", 451, $fd, $found, $buffer, 0],
  ["cold", $madvise, $place, 4096, 20], ["pageout", $madvise, $place, 4096, 21],
  ["pageout with more bits", $madvise, $place, 4096, (1 << 32) | 21],
  ["process_madvise", 440, $fd, $vector, 1, 21, 0], ["io_uring", 425, 1, $buffer],
  ["without waiting", $preadv2, $fd, $vector, 1, 0, 0, 8], ["with waiting", $preadv2, $fd, $vector, 1, 0, 0, 0],
  ["dontneed", $madvise, $place, 4096, 4], ["free", $madvise, $place, 4096, 8],
);
print join(",", map { my ($name, @call) = @$_; syscall($call[0], @call[1 .. $#call]) < 0 ? $name : () } @calls);
"""


async def test_a_job_can_neither_evict_pages_of_shared_files_nor_ask_about_them(
    engine: Engine, image: Image, kind: str
) -> None:
    if kind in UNCONFINED or is_podman():
        pytest.skip("nothing filters its system calls")
    result = await run(engine, image, 'perl -e "$ADVICE"', Job((), env={"ADVICE": ADVICE}, seconds=30))
    refused = b"mincore,cachestat,cold,pageout,pageout with more bits,process_madvise,io_uring,without waiting"
    assert result.log == refused, "what the runtimes of Go and C need for their own memory stays"


URGENCY = r"""
my ($pin, $policy, $given, $nice) = (POSIX::uname())[4] eq "aarch64" ? (122, 119, 118, 140) : (203, 144, 142, 141);
my ($one, $zero) = ("\1" . "\0" x 127, "\0" x 16);
my @calls = ([$pin, 0, 128, $one], [$policy, 0, 5, $zero], [$given, 0, $zero], [$nice, 0, 0, 19]);
print join(",", map { syscall($_->[0], @$_[1 .. $#$_]) } @calls), " ", getpriority(0, 0), " ", `nproc`;
"""


async def test_a_job_seems_to_choose_its_cores_and_its_urgency_and_keeps_those_that_it_has(
    engine: Engine, image: Image, kind: str
) -> None:
    if kind in UNCONFINED or is_podman():
        pytest.skip("nothing filters its system calls")
    before = await run(engine, image, "nproc")
    result = await run(engine, image, 'perl -MPOSIX -e "$URGENCY"', Job((), env={"URGENCY": URGENCY}, seconds=30))
    assert result.log == b"0,0,0,0 0 " + before.log


COOKIES = r"""
use Socket;
socket(my $end, AF_UNIX, SOCK_STREAM, 0);
print join(",", map { defined(getsockopt($end, SOL_SOCKET, $_)) ? $_ : () } (SO_TYPE, SO_ERROR, SO_RCVBUF, 57));
"""


async def test_a_job_cannot_ask_for_cookies_of_sockets_which_are_counted_for_the_whole_machine(
    engine: Engine, image: Image, kind: str
) -> None:
    if kind in UNCONFINED or is_podman():
        pytest.skip("nothing filters its system calls")
    result = await run(engine, image, 'perl -e "$COOKIES"', Job((), env={"COOKIES": COOKIES}, seconds=30))
    assert result.log == b"3,4,8", "all other options stay"


LIMITS = r"""
my $prlimit = (POSIX::uname())[4] eq "aarch64" ? 261 : 302;
my ($child, $asked, $given) = (fork() || do { sleep 30; exit }, "\0" x 16, pack("QQ", 60, 60));
my @others = map { (syscall($prlimit, $_, 0, 0, $asked), syscall($prlimit, $_, 0, $given, 0)) } 1, $child;
print join(",", @others, syscall($prlimit, 0, 0, $given, 0)), " ", `bash -c 'ulimit -t'`;
kill 9, $child;
"""


async def test_a_job_sets_no_limits_of_other_processes(engine: Engine, image: Image, kind: str) -> None:
    if kind in UNCONFINED or is_podman():
        pytest.skip("nothing filters its system calls")
    result = await run(engine, image, 'perl -MPOSIX -e "$LIMITS"', Job((), env={"LIMITS": LIMITS}, seconds=30))
    assert result.log == b"0,-1,0,-1,0 60\n", "reading them stays, and its own"


PROCESSES = r"""
use POSIX ();
use Socket;
socketpair(my $end, my $other, AF_UNIX, SOCK_STREAM, 0);
my $room = "\0" x 8;
my ($clone, $memory) = (POSIX::uname())[4] eq "aarch64" ? (220, 279) : (56, 319);
my $child = syscall($clone, 0x1000 | 17, 0, $room, 0, 0);
POSIX::_exit(0) if $child == 0;
my @told = (getsockopt($end, SOL_SOCKET, 77), setsockopt($end, SOL_SOCKET, 76, 1));
my @files = (syscall(434, $$, 0), syscall($memory, $room, 0), syscall(447, 0));
print join(",", $child, @files, map { $_ ? 1 : -1 } @told[0, 1]);
open(my $file, "+>", "/dev/shm/own") or die;
print " others stay" if setsockopt($end, SOL_SOCKET, SO_RCVBUF, 4096);
"""


async def test_a_job_gets_no_file_of_a_process_or_of_memory_whose_number_is_counted_for_the_whole_machine(
    engine: Engine, image: Image, kind: str
) -> None:
    if kind in UNCONFINED or is_podman():
        pytest.skip("nothing filters its system calls")
    result = await run(engine, image, 'perl -e "$PROCESSES"', Job((), env={"PROCESSES": PROCESSES}, seconds=30))
    assert result.log == b"-1,-1,-1,-1,-1,-1 others stay"


SOCKETS = r"""
use Socket;
my ($socket, $ask, $give) = (`uname -m` =~ /x86_64/) ? (41, 55, 54) : (198, 209, 208);
my $more = 1 << 32;
my ($room, $size) = ("\0" x 32, pack("L", 32));
socket(my $end, AF_UNIX, SOCK_STREAM, 0); my $fd = fileno($end);
my $six = syscall($socket, 10, SOCK_DGRAM, 0);
my @calls = (
  ["all sockets", $socket, 16, 3, 4], ["all sockets with more bits", $socket, 16 | $more, 3, 4],
  ["machines", $socket, 40, 1, 0], ["machines with more bits", $socket, 40 | $more, 1, 0],
  ["cookie with more bits", $ask, $fd, 1, 57 | $more, $room, $size],
  ["process with more bits", $ask, $fd, 1, 77 | $more, $room, $size],
  ["labels", $give, $six, 41, 32, $room, 32],
  ["labels with more bits", $give, $six, 41 | $more, 32 | $more, $room, 32],
  ["routes", $socket, 16, 3, 0], ["devices", $socket, 16, 3, 15], ["datagrams", $socket, 2, 2, 0],
  ["kind", $ask, $fd, 1, 3, $room, $size], ["only six", $give, $six, 41, 26, pack("i", 1), 4],
  ["buffer", $give, $fd, 1, 8, pack("i", 4096), 4], ["reuse", $give, $six, 1, 2, pack("i", 1), 4],
);
# What is refused for what it asks for would be refused anyway: only this error comes from a filter.
sub refused { my ($name, @call) = @_; syscall($call[0], @call[1 .. $#call]) < 0 && $!{EPERM} ? $name : () }
my @refused = map { refused(@$_) } @calls;
syscall($socket, 16, 3, 9);
print join(",", @refused), " ", $! + 0;
"""


async def test_a_job_gets_no_socket_and_sets_no_option_by_which_it_would_meet_another_job(
    engine: Engine, image: Image, kind: str
) -> None:
    if kind in UNCONFINED or is_podman():
        pytest.skip("nothing filters its system calls")
    result = await run(engine, image, 'perl -e "$SOCKETS"', Job((), env={"SOCKETS": SOCKETS}, seconds=30))
    said, _, of_audit = result.log.decode().rpartition(" ")
    assert int(of_audit) == errno.EPROTONOSUPPORT, "su goes on where there is no audit, and ends where it is refused"
    refused = said.split(",")
    assert {"all sockets", "machines", "labels"} <= set(refused)
    more = {f"{each} with more bits" for each in ("all sockets", "machines", "cookie", "process", "labels")}
    assert more <= set(refused), "the kernel takes the lower half of an argument"
    assert len(refused) == 8, "all other sockets and options stay"


CALLERS = r"""
use Socket;
socket(my $end, AF_INET, SOCK_STREAM, 0);
open(my $file, "<", "/proc/sys/net/ipv4/ip_local_port_range");
my @told = (split(" ", <$file>), setsockopt($end, 0, 51, pack("L", 40000 | 50000 << 16)) ? 1 : 0);
print join(",", @told), setsockopt($end, 0, 1, pack("i", 4)) ? " others stay" : "";
"""


async def test_a_job_has_a_drawn_range_of_ports_for_callers_which_the_whole_machine_counts(
    engine: Engine, image: Image, kind: str
) -> None:
    if kind != "docker" or is_podman():
        pytest.skip("no range is drawn, or nothing filters its system calls")
    jobs = [run(engine, image, 'perl -e "$CALLERS"', Job((), env={"CALLERS": CALLERS}, seconds=30)) for _ in range(2)]
    told = [(await job).log.decode().split(",") for job in jobs]
    assert [each[2] for each in told] == ["0 others stay"] * 2
    assert told[0] != told[1], "else a port would say how many callers another job has had"
    assert all(32_768 <= int(low) < 36_768 < 56_999 < int(high) < 61_000 for low, high, _ in told)


async def test_no_limit_of_a_jobs_own_tells_it_what_all_processes_of_its_user_have(
    engine: Engine, image: Image, kind: str
) -> None:
    if kind != "docker" or is_podman():
        pytest.skip("nothing filters its system calls")
    limits = "ulimit -u; ulimit -i; ulimit -l; ulimit -q"
    lower = "ulimit -u 1 && ulimit -i 1 && ulimit -l 1 && ulimit -q 1"
    result = await run(
        engine, image, f"({limits}) > /tmp/before; {lower}; ({limits}) | diff /tmp/before - && echo same"
    )
    assert result.log == b"same\n"
    result = await run(engine, image, "ulimit -n 99 && ulimit -S -c 0 && ulimit -n")
    assert result.log == b"99\n", "limits of one process are its own"
