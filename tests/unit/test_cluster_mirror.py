"""A trial's files and their copy, through whatever becomes of them."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.plugins.ray.mirror import PIECE_BYTES, Mirror, MirrorChange, apply, pack, unpack
from harness.runs.records import append_line, write_whole

NAMES = ("trial.json", "agent.json", "usage.json", "judge.jsonl", "submission/patch.diff")
GROWING = ("trajectory.jsonl", "log.txt")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from(NAMES), st.binary(max_size=20)),
        st.tuples(st.just("append"), st.sampled_from(GROWING), st.binary(max_size=20)),
        st.tuples(st.just("remove"), st.sampled_from(NAMES), st.just(b"")),
        st.tuples(st.just("aside"), st.just(""), st.just(b"")),
        st.tuples(st.just("copy"), st.just(""), st.just(b"")),
    ),
    max_size=30,
)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def do(folder: Path, kind: str, name: str, data: bytes) -> None:
    path = folder / "1" / name
    if kind == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
    elif kind == "append":
        path.parent.mkdir(parents=True, exist_ok=True)
        append_line(path, data.hex())
    elif kind == "remove":
        path.unlink(missing_ok=True)
    elif kind == "aside" and (folder / "1").exists():
        (folder / "1").rename(folder / f"1.lost-{len(list(folder.glob('1.lost-*'))) + 1}")


@settings(max_examples=50, deadline=None)
@given(steps=STEPS)
def test_the_copy_has_what_is_there_after_any_steps_however_often_it_is_made(tmp_path_factory, steps):
    there, copy = tmp_path_factory.mktemp("there"), tmp_path_factory.mktemp("copy")
    mirror = Mirror(there, "1")
    for kind, name, data in [*steps, ("copy", "", b"")]:
        if kind == "copy":
            apply(mirror.change(), copy, "1")
            assert contents(copy) == contents(there)
        else:
            do(there, kind, name, data)


def test_what_grows_is_sent_in_part_and_what_lies_beside_is_not_sent(tmp_path):
    there, copy = tmp_path / "there", tmp_path / "copy"
    for folder in ("1", "10", "1.lost-1"):
        (there / folder).mkdir(parents=True)
    (there / "10" / "trajectory.jsonl").write_text("another trial's")
    append_line(there / "1" / "trajectory.jsonl", "a" * 1000)
    mirror = Mirror(there, "1")
    apply(mirror.change(), copy, "1")
    append_line(there / "1" / "trajectory.jsonl", "b")
    change = mirror.change()
    assert [(piece.path, piece.data) for piece in change.pieces] == [("1/trajectory.jsonl", b"b\n")]
    apply(change, copy, "1")
    assert contents(copy) == {"1/trajectory.jsonl": b"a" * 1000 + b"\nb\n"}
    assert mirror.change() == MirrorChange()


def test_an_attempt_that_is_set_aside_is_renamed_in_the_copy_and_not_sent_again(tmp_path):
    there, copy = tmp_path / "there", tmp_path / "copy"
    (there / "1").mkdir(parents=True)
    write_whole(there / "1" / "trajectory.jsonl", b"long")
    mirror = Mirror(there, "1")
    apply(mirror.change(), copy, "1")
    (there / "1").rename(there / "1.lost-1")
    change = mirror.change()
    assert change == MirrorChange(asides=("1.lost-1",))
    apply(change, copy, "1")
    assert contents(copy) == {"1.lost-1/trajectory.jsonl": b"long"}


def test_a_large_file_comes_in_pieces_and_appears_whole(tmp_path):
    there, copy = tmp_path / "there", tmp_path / "copy"
    (there / "1").mkdir(parents=True)
    large = bytes(range(256)) * (PIECE_BYTES // 256) + b"more"
    write_whole(there / "1" / "output.txt", large)
    first, last = Mirror(there, "1").change().pieces
    apply(MirrorChange(pieces=(first,)), copy, "1")
    assert not (copy / "1" / "output.txt").exists()
    apply(MirrorChange(pieces=(last,)), copy, "1")
    assert contents(copy) == {"1/output.txt": large}


def test_what_says_that_something_is_finished_comes_last(tmp_path):
    (tmp_path / "1" / "submission").mkdir(parents=True)
    for name in ("agent.json", "verdict.json", "usage.json", "trial.json", "submission/patch.diff", "judge.jsonl"):
        (tmp_path / "1" / name).write_text("x")
    sent = [piece.path.removeprefix("1/") for piece in Mirror(tmp_path, "1").change().pieces]
    assert sent[0] == "trial.json"
    assert sent[-3:] == ["usage.json", "agent.json", "verdict.json"]


def test_each_of_several_catalogs_is_unpacked_where_it_is_wanted(tmp_path: Path) -> None:
    for name in ("ours", "theirs"):
        (tmp_path / name / "tasks" / name).mkdir(parents=True)
        (tmp_path / name / "tasks" / name / "task.yaml").write_text(name)
        (tmp_path / name / "notes.txt").write_text("no part of a catalog")
        made = unpack(pack(tmp_path / name), tmp_path / "node" / "catalogs" / name)
        assert [path.name for path in made.rglob("*") if path.is_file()] == ["task.yaml"]
    assert (tmp_path / "node" / "catalogs" / "ours" / "tasks" / "ours" / "task.yaml").read_text() == "ours"
