"""Commands of trajectories are split by a shell's grammar, grouped, and set in their order."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agents.trajectory import EgressRecord, FaultRecord, ObservationRecord, RefusedContact
from harness.models.protocol import Message, MessageRole, ToolCall
from harness.models.replay import MessageRecord
from harness.results.activity.actions import ToolUse, actions, calls, kind_of_command, kind_of_tool
from harness.results.activity.out_of_bounds import OutOfBounds, sightings
from harness.results.activity.shell import atomic_commands
from harness.results.activity.trials import Mark, profile, watch_marks
from harness.results.activity.vocabulary import Group, Kind
from harness.specs.errors import ProviderFault
from harness.specs.usage import NO_USAGE


def split(text: str) -> list[str]:
    return [" ".join((found.program, *found.arguments)) for found in atomic_commands(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cd /a && FOO=1 pytest -q 'x y' | tail -5; ls", ["cd /a", "pytest -q x y", "tail -5", "ls"]),
        ("for f in a b; do cat $f; done; if [ -f x ]; then pwd; fi", ["cat $f", "pwd"]),
        ("timeout -k 5 60 env A=1 bash -lc 'ls; grep x y'", ["ls", "grep x y"]),
        ("find . -name '*.py' | xargs -n 1 grep -l foo 2>&1", ["find . -name *.py", "grep -l foo"]),
        ('echo "$(git log | head -3)"', ["echo $(git log | head -3)", "git log", "head -3"]),
        ("cat > t.py <<'EOF'\nls; rm -rf x\nEOF\nrun_tests t.py", ["cat", "run_tests t.py"]),
        ("bash <<EOF\nls\nEOF", ["ls"]),
        ("", []),
        ("((((", []),
    ],
)
def test_shell_text_becomes_atomic_commands(text, expected):
    assert split(text) == expected


@given(st.text(alphabet="abc $(){}[]|&;<>'\"\\\n`#=-", max_size=60))
def test_no_text_is_too_odd_to_be_split(text):
    atomic_commands(text)


def test_nesting_costs_no_recursion():
    assert atomic_commands("(" * 5000 + "ls" + ")" * 5000) is not None


KINDS = {
    Kind.READ: "cat a|head -5 a|sed -n 1,5p a|git diff|wc -l a",
    Kind.WRITE: 'echo a > b|cat <<E > x.py\nE|sed -i s/a/b/ f|git apply p|mkdir d|python -c \'open("a", "w")\'|tee a',
    Kind.SEARCH: "grep -rn a .|rg a|find . -name a|git log --oneline",
    Kind.NAVIGATION: "ls -la|cd x|tree",
    Kind.TESTS: "run_tests a::b|python -m pytest -q|go test ./...|npm test|npx vitest run|make check|timeout 9 ctest",
    Kind.BUILD_RUN: "make|gcc a.c|python x.py|./configure|npm run build|python -c 'print(1)'",
    Kind.PACKAGES: "pip install a|npm ci|apt-get install b|go mod tidy|python -m pip list",
    Kind.OTHER: "echo done|sleep 1|git add .|echo a > /tmp/b|cd-nothing",
}


@pytest.mark.parametrize("kind", list(Kind))
def test_commands_are_grouped_by_what_they_are_for(kind):
    for text in KINDS[kind].split("|"):
        assert [kind_of_command(found) for found in atomic_commands(text)] == [kind], text


def test_what_filters_another_command_is_neither_read_nor_search():
    found = actions([ToolUse(0, 1, "bash", "run_tests | grep -v PASSED | head; ls | xargs grep a")])
    assert [item.kind for item in found] == [
        Kind.TESTS, Kind.OTHER, Kind.OTHER, Kind.NAVIGATION, Kind.SEARCH
    ]  # fmt: skip


def test_the_three_groups_are_those_of_the_docs():
    assert {kind.group for kind in (Kind.READ, Kind.WRITE)} == {Group.FILES}
    assert {kind.group for kind in (Kind.SEARCH, Kind.NAVIGATION)} == {Group.SEARCH}
    assert {kind.group for kind in (Kind.TESTS, Kind.BUILD_RUN, Kind.PACKAGES)} == {Group.EXECUTION}


def observed(*texts: str, status: int = 0, timed_out: bool = False) -> list[ObservationRecord]:
    return [
        ObservationRecord(
            step=step, command=text, exit_status=status, seconds=1, output_bytes=0, truncated=0, timed_out=timed_out
        )
        for step, text in enumerate(texts, start=1)
    ]


def test_a_profile_has_exploration_edits_and_the_tests_after_the_last_edit():
    records = observed("ls; cat a", "grep -n x a", "echo a > t.py; run_tests t.py", "echo b > t.py", "run_tests t.py")
    found = profile(actions(calls(records)))
    assert (found.calls, found.actions, found.before_edit, found.explored) == (5, 7, 3, 3)
    assert (found.tests_run, found.tests_after_edit, found.tested_before_submitting) == (2, 1, True)
    assert [sum(tenth.values()) for tenth in found.deciles] == [1, 1, 1, 0, 1, 1, 0, 1, 1, 0]
    untested = profile(actions(calls(observed("run_tests", "echo a > b"))))
    assert not untested.tested_before_submitting


@pytest.mark.parametrize(
    ("written", "tests"),
    [
        ("cat > /logs/agent/manifest.yaml <<'E'\n- file: t.py\nE", 1),
        ('cat > "${TESTWRIGHT_AGENT_LOGS:-/logs/agent}/manifest.yaml" <<E\n- file: t.py\nE', 1),
        ("printf x | tee /logs/agent/manifest.yaml", 1),
        ("echo b | tee /logs/agent/manifest.yaml t.py", 0),
        ("echo b > t.py", 0),
    ],
)
def test_writing_the_manifest_is_no_edit_after_which_tests_must_run(written, tests):
    found = profile(actions(calls(observed("echo a > t.py; run_tests t.py", written))))
    assert (found.has_edited, found.tests_run, found.tests_after_edit) == (True, 1, tests)


@pytest.mark.parametrize(("path", "tests"), [("/logs/agent/manifest.yaml", 1), ("/app/t.py", 0)])
def test_a_native_agents_own_tool_may_write_the_manifest_last(path, tests):
    asked = [("Write", {"file_path": "t.py"}), ("Bash", {"command": "run_tests"}), ("Write", {"file_path": path})]
    called = [ToolCall(id=str(at), name=name, arguments=json.dumps(text)) for at, (name, text) in enumerate(asked)]
    answer = MessageRecord(
        step=1, message=Message(role=MessageRole.ASSISTANT, tool_calls=tuple(called)), usage=NO_USAGE
    )
    assert profile(actions(calls([answer]))).tests_after_edit == tests


@pytest.mark.parametrize(
    ("result", "status"),
    [
        ("Exit code: 1\nFAILED", 1),
        ("Exit code 127\nbash: x: command not found", 127),
        ('{"output": "", "metadata": {"exit_code": 0, "duration_seconds": 0.1}}', 0),
        ("Process exited with code 0\nok", 0),
        ("a file\nand another", None),
        ("-" * 400 + " exit code: 3", None),
    ],
)
def test_a_native_agents_command_has_the_status_that_its_tool_tells_and_the_seconds_that_the_gateway_saw(
    result, status
):
    began = datetime(2026, 1, 1, tzinfo=UTC)
    call = ToolCall(id="1", name="Bash", arguments='{"command": "run_tests"}')
    asks = Message(role=MessageRole.ASSISTANT, tool_calls=(call,))
    says = Message(role=MessageRole.TOOL, tool_call_id="1", content=result)
    records = [
        MessageRecord(step=1, message=asks, usage=NO_USAGE, time=began),
        MessageRecord(step=1, message=says, time=began + timedelta(seconds=2.5)),
    ]
    [found] = calls(records)
    assert (found.exit_status, found.seconds) == (status, 2.5)


def test_commands_that_one_answer_asks_for_together_have_no_seconds_of_their_own():
    both = tuple(ToolCall(id=name, name="Bash", arguments='{"command": "ls"}') for name in "ab")
    records = [MessageRecord(step=1, message=Message(role=MessageRole.ASSISTANT, tool_calls=both), usage=NO_USAGE)]
    records += [
        MessageRecord(step=1, message=Message(role=MessageRole.TOOL, tool_call_id=each.id, content="x"))
        for each in both
    ]
    assert [call.seconds for call in calls(records)] == [None, None]


def test_native_agents_own_tools_count_as_what_they_are():
    asked = (
        ToolCall(id="1", name="Read", arguments='{"file_path": "a"}'),
        ToolCall(id="2", name="Bash", arguments='{"command": "ls && run_tests"}'),
        ToolCall(id="3", name="exec_command", arguments='{"cmd": ["bash", "-lc", "rg x; cat y"]}'),
        ToolCall(id="4", name="str_replace_based_edit_tool", arguments='{"command": "view", "path": "a"}'),
        ToolCall(id="5", name="apply_patch", arguments="not JSON"),
    )
    records = [
        MessageRecord(step=1, message=Message(role=MessageRole.ASSISTANT, tool_calls=asked), usage=NO_USAGE),
        # the agent sends its history again: these are no new calls
        MessageRecord(step=1, message=Message(role=MessageRole.ASSISTANT, tool_calls=asked)),
        MessageRecord(
            step=1, message=Message(role=MessageRole.TOOL, tool_call_id="2", content="Exit code: 1\nFAILED")
        ),
    ]
    found = calls(records)
    assert [item.kind for item in actions(found)] == [
        Kind.READ, Kind.NAVIGATION, Kind.TESTS, Kind.SEARCH, Kind.READ, Kind.READ, Kind.WRITE
    ]  # fmt: skip
    assert [call.is_error for call in found] == [False, True, False, False, False]
    assert kind_of_tool("TodoWrite") is Kind.OTHER


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (None, "Bash bash shell exec_command local_shell run_shell_command"),
        (Kind.READ, "Read read read_file read_many_files view_image"),
        (Kind.WRITE, "Write Edit MultiEdit NotebookEdit write edit patch apply_patch write_file replace"),
        (Kind.SEARCH, "Grep Glob grep glob grep_search search_file_content"),
        (Kind.NAVIGATION, "LS list list_directory"),
        (Kind.OTHER, "Agent Task TodoWrite todowrite update_plan ToolSearch Skill WebFetch google_web_search"),
    ],
)
def test_the_tools_of_each_native_scaffold_have_their_kind(kind, names):
    assert {name: kind_of_tool(name) for name in names.split()} == dict.fromkeys(names.split(), kind)


def test_a_tool_that_asks_the_web_is_out_of_bounds():
    asked = (
        ToolCall(id="1", name="WebFetch", arguments='{"url": "https://example.org/tests.py"}'),
        ToolCall(id="2", name="google_web_search", arguments="{}"),
        ToolCall(id="3", name="read_file", arguments='{"path": "a"}'),
    )
    answer = MessageRecord(step=4, message=Message(role=MessageRole.ASSISTANT, tool_calls=asked), usage=NO_USAGE)
    found = sightings(actions(calls([answer])))
    assert [(item.kind, item.step) for item in found] == [(OutOfBounds.NETWORK, 4)] * 2
    assert found[0].command == '{"url": "https://example.org/tests.py"}'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("curl https://example.org/x", [OutOfBounds.NETWORK]),
        ("pip install left-pad", [OutOfBounds.NETWORK]),
        ("python -c 'import urllib.request; urllib.request.urlopen(\"http://example.org\")'", [OutOfBounds.NETWORK]),
        ("git fetch origin", [OutOfBounds.NETWORK]),
        ("git log --all --oneline", [OutOfBounds.GIT_HISTORY]),
        ("git reflog; ls .git/objects", [OutOfBounds.GIT_HISTORY] * 2),
        ("git show HEAD~1:tests/test_a.py", [OutOfBounds.GIT_HISTORY]),
        ("cat /proc/1/environ", [OutOfBounds.RUNNER_INTERNALS]),
        ("find / -name 'rubric*'", [OutOfBounds.GRADER]),
        ("ls / | xargs grep -ril hidden_tests", [OutOfBounds.GRADER]),
        ("curl http://127.0.0.1:8080/health", []),
        ("pip list; git log --oneline | head; git status; git diff", []),
        ("grep -n verify src/x.py; run_tests tests/test_probe.py; cat /proc/cpuinfo", []),
        ("cat > test_x.py <<EOF\nfetch('https://example.org') # rubric\nEOF", []),
    ],
)
def test_what_looks_out_of_bounds_is_seen_and_honest_work_is_not(text, expected):
    assert [item.kind for item in sightings(actions([ToolUse(0, 3, "bash", text)]))] == expected


def test_hosts_that_the_proxy_to_registries_refused_are_out_of_bounds_without_a_step():
    refused = (
        RefusedContact(host="forge.test", port=443, why="host", count=3),
        RefusedContact(host="others", port=0, why="refused", count=1),
    )
    record = EgressRecord(allowed=("r.test:443",), opened={"r.test:443": 2}, refused=refused)
    found = sightings(actions([ToolUse(0, 3, "bash", "curl https://forge.test")]), [record])
    assert [(item.kind.value, item.step, item.command) for item in found] == [
        ("network", 3, "curl https://forge.test"),
        ("refused-host", None, "forge.test:443, 3 times (host)"),
        ("refused-host", None, "others, once (refused)"),
    ]
    assert not sightings((), [EgressRecord(allowed=("r.test:443",), opened={"r.test:443": 2})])


def test_loops_storms_and_timeouts_are_marked():
    looped = observed("make", *["run_tests"] * 4, "ls")
    assert [(m.mark, m.step, m.length) for m in watch_marks(looped, calls(looped))] == [(Mark.LOOP, 2, 4)]
    stormy = observed(*(f"false {number}" for number in range(8)), status=1)
    assert [m.mark for m in watch_marks(stormy, calls(stormy))] == [Mark.ERROR_STORM]
    late = observed("sleep 1", "sleep 2", timed_out=True)
    assert [m.mark for m in watch_marks(late, calls(late))] == [Mark.TIMEOUTS]
    failed = [FaultRecord(step=2, fault=ProviderFault.SERVER, message="gone", usage=NO_USAGE) for _ in range(5)]
    assert [(m.mark, m.step) for m in watch_marks(failed, ())] == [(Mark.ERROR_STORM, 2)]
    assert not watch_marks(observed("ls", "ls", "cat a"), calls(observed("ls", "ls", "cat a")))


def test_a_stall_is_five_minutes_without_a_record():
    first, second = observed("ls", "pwd")
    late = second.model_copy(update={"time": first.time.replace(year=first.time.year + 1)})
    [mark] = watch_marks([first, late], ())
    assert mark.mark is Mark.STALL
    assert mark.length >= 300
    assert not watch_marks([first, late], (), seconds=3600), "the clock was set while the agent worked"
