"""What a command does and doesn't see, and how its end is told. One sandbox for all of them."""

import os

import pytest

from harness.sandbox.protocol import MAX_OUTPUT_BYTES, Sandbox
from tests.support.sandboxes import RUN, UNCONFINED, processes_with

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def output_of(sandbox: Sandbox, command: str, timeout: float = 20) -> str:
    """The output of a command that must succeed."""
    result = await sandbox.run(command, timeout)
    assert result.exit_status == 0, result
    return result.output.decode()


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("true", 0),
        ("exit 3", 3),
        ("(exit 7)", 7),
        ("", 0),
        ("# nothing", 0),
        ("no-such-command-here", 127),
        ("kill -9 $$", 137),
        ("kill -TERM $$", 143),
        ("echo 'unfinished", 2),
        ("kill -9 0", 137),
    ],
)
async def test_the_exit_status_is_the_commands(shared: Sandbox, command: str, status: int) -> None:
    result = await shared.run(command, 20)
    assert (result.exit_status, result.timed_out) == (status, False), result


async def test_a_complaint_of_the_shell_is_in_the_output(shared: Sandbox) -> None:
    result = await shared.run("no-such-command-here", 20)
    assert b"no-such-command-here: command not found" in result.output


async def test_stdout_and_stderr_keep_their_order(shared: Sandbox) -> None:
    text = await output_of(shared, "for n in 1 2 3 4; do echo out$n; echo err$n >&2; done")
    assert text.split() == ["out1", "err1", "out2", "err2", "out3", "err3", "out4", "err4"]


async def test_standard_input_is_closed(shared: Sandbox) -> None:
    assert await output_of(shared, "cat; read line || echo nothing to read") == "nothing to read\n"


async def test_each_command_is_a_new_shell_in_the_work_directory(shared: Sandbox) -> None:
    where = await output_of(shared, "pwd; x=1; export y=2; echo kept > kept.txt; mkdir -p sub; cd sub; set -e")
    assert (
        await output_of(shared, 'pwd; echo "$x$y$OLDPWD" >&2; rmdir sub; false; cat kept.txt') == where + "\nkept\n"
    )


async def test_a_command_runs_where_the_work_directory_was_made_anew(shared: Sandbox) -> None:
    await output_of(shared, "mkdir -p nested && cd nested && rm -rf ../nested")
    assert (await output_of(shared, "test -f present.txt && echo there")) == "there\n"


async def test_the_images_environment_is_there_and_no_secret_of_ours(shared: Sandbox) -> None:
    assert os.environ["FAKE_API_KEY"] == "honeytoken"
    text = await output_of(shared, "env")
    assert "FROM_IMAGE=yes\n" in text
    assert "honeytoken" not in text
    assert "FAKE_API_KEY" not in text


async def test_no_process_in_sight_shows_a_secret_of_ours(shared: Sandbox, kind: str) -> None:
    if kind in UNCONFINED:  # not declared: it sees all that its user sees
        return
    assert "honeytoken" not in await output_of(shared, "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'; :")


async def test_commands_hold_no_other_files_open(shared: Sandbox) -> None:
    text = await output_of(shared, "ls /proc/$$/fd; :")
    assert set(text.split()) <= {"0", "1", "2", "255"}


async def test_bytes_come_through_as_they_are(shared: Sandbox) -> None:
    result = await shared.run(r"printf 'a\0b\377\376\200\r\n\033[31m\1\036end'", 20)
    assert result.output == b"a\0b\xff\xfe\x80\r\n\x1b[31m\x01\x1eend"
    assert result.truncated == 0


async def test_output_that_looks_like_an_end_is_output(shared: Sandbox) -> None:
    command = "for n in 1 2 3; do printf '%032x 0 0\\n' $n; printf '%032x\\n' $n; done; exit 5"
    result = await shared.run(command, 20)
    assert result.exit_status == 5
    assert len(result.output.splitlines()) == 6


@pytest.mark.parametrize("size", [1_000, 99_999, 100_000, 131_072, 1_000_000])
async def test_a_command_may_be_long(shared: Sandbox, size: int) -> None:
    filler = "x" * size
    assert await output_of(shared, f"text='{filler}'; echo ${{#text}}") == f"{size}\n"


async def test_a_commands_text_is_taken_literally(shared: Sandbox) -> None:
    command = "cat <<'END'\n'\"$HOME` \\ \tnaïve ☃\nEND\necho \"second: $((1 + 1))\""
    assert await output_of(shared, command) == "'\"$HOME` \\ \tnaïve ☃\nsecond: 2\n"


async def test_a_command_with_half_a_surrogate_pair_runs(shared: Sandbox) -> None:
    assert await output_of(shared, "echo '\ud83d'") == "?\n"


async def test_a_command_with_a_nul_byte_is_refused(shared: Sandbox) -> None:
    result = await shared.run("echo a\0b", 20)
    assert result.exit_status == 2
    assert b"NUL" in result.output


async def test_endless_output_is_kept_at_both_ends(shared: Sandbox) -> None:
    result = await shared.run("echo first; head -c 5000000 /dev/zero; echo last", 20)
    assert len(result.output) == MAX_OUTPUT_BYTES
    assert result.truncated == 5_000_011 - MAX_OUTPUT_BYTES
    assert result.output.startswith(b"first\n")
    assert result.output.endswith(b"last\n")


async def test_a_background_process_blocks_no_result_and_stays_out_of_later_ones(shared: Sandbox) -> None:
    first = await shared.run("(while :; do echo noise || exit; done) & echo $! > noisy.pid; echo started", 20)
    assert first.exit_status == 0
    assert b"started" in first.output
    for _ in range(20):
        assert await output_of(shared, "echo clean") == "clean\n"
    assert await output_of(shared, 'kill -0 "$(cat noisy.pid)" && kill "$(cat noisy.pid)" && echo lived') == "lived\n"


async def test_a_timeout_ends_with_124_and_what_was_printed(shared: Sandbox) -> None:
    result = await shared.run("echo before; sleep 600; echo after", 0.3)
    assert result.exit_status == 124
    assert result.timed_out
    assert result.output == b"before\n"
    assert 0.3 <= result.seconds < 4


async def test_a_timeout_kills_children_grandchildren_and_daemons_and_nothing_else(shared: Sandbox) -> None:
    await output_of(shared, f"sleep {RUN}7531.001 & setsid sleep {RUN}7531.002 & (setsid sleep {RUN}7531.003 &) ; :")
    result = await shared.run(
        f"sleep {RUN}7532.001 & (sleep {RUN}7532.002 & wait) & setsid sleep {RUN}7532.003 &\n"
        f"(setsid bash -c 'sleep {RUN}7532.004; :' &)\n"
        f"trap '' TERM INT HUP; exec 2>&-; bash -c 'trap \"\" TERM; sleep {RUN}7532.005; :'",
        0.5,
    )
    assert result.timed_out
    assert processes_with(f"{RUN}7532.") == []
    assert len(processes_with(f"{RUN}7531.")) == 3
    await output_of(
        shared,
        f"for f in /proc/[0-9]*; do grep -q '{RUN}7531[.]' $f/cmdline && kill ${{f#/proc/}}; done 2>/dev/null; :",
    )


async def test_a_timeout_kills_a_daemon_that_has_emptied_its_environment(shared: Sandbox, kind: str) -> None:
    if kind in UNCONFINED:  # not declared: among all processes of a machine it can't be told from others'
        return
    command = f"(env -i setsid sleep {RUN}7533.001 &); env -i setsid sleep {RUN}7533.002 & wait; sleep 60"
    result = await shared.run(command, 0.5)
    assert result.timed_out
    assert processes_with(f"{RUN}7533.") == []


async def test_a_server_in_the_background_survives_a_later_timeout(shared: Sandbox) -> None:
    server = (
        'perl -MIO::Socket::IP -e \'$s=IO::Socket::IP->new(LocalHost=>"127.0.0.1",LocalPort=>0,Listen=>5) or die;'
        'open F,">port.new";print F $s->sockport;close F;rename "port.new","port";'
        'while($c=$s->accept){print $c "served\\n";close $c}\' > server.log 2>&1 & echo $! > server.pid'
    )
    await output_of(shared, server)
    await output_of(shared, "until test -s port; do sleep 0.01; done")
    assert (await shared.run("sleep 60", 0.2)).timed_out
    ask = 'exec 3<>"/dev/tcp/127.0.0.1/$(cat port)" && cat <&3'
    assert await output_of(shared, ask) == "served\n"
    await output_of(shared, 'kill "$(cat server.pid)"')


async def test_a_shell_that_kills_its_launcher_ends_with_137(shared: Sandbox) -> None:
    assert (await shared.run("kill -9 $PPID; sleep 0.1; echo on", 20)).exit_status == 137
    assert await output_of(shared, "echo fine") == "fine\n"


async def test_a_command_that_kills_its_relay_loses_its_output_only(shared: Sandbox) -> None:
    await shared.run(
        "driver=$(cut -d' ' -f4 /proc/$PPID/stat)\n"
        'for f in /proc/[0-9]*; do read -r _ name _ parent _ <$f/stat; [[ $name == "(cat)" && $parent == $driver ]] '
        "&& kill -9 ${f#/proc/}; done 2>/dev/null; echo lost",
        20,
    )
    assert await output_of(shared, "echo fine") == "fine\n"
