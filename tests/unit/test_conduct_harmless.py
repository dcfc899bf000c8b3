"""Uses of listed names that show nothing, each beside one that does."""

import pytest

from harness.judging.verify.intake import FileChange
from harness.specs.reasons import NoteCode
from tests.unit.test_conduct import CATALOG, TASKS, codes, sights

ADDRESSES = "func TestA(t *testing.T) {{ if reflect.ValueOf(m.All).Pointer() {} {{ t.Fatal(1) }} }}"
HARMLESS = {
    "python": [
        'import signal\ndef test_a():\n    assert parse("RTMIN") == signal.SIGRTMIN',
        'import subprocess\ndef test_a(tmp_path):\n    subprocess.run(["git", "init", "-q"], cwd=tmp_path)\n'
        '    subprocess.run(["git", "config", "user.name", "A"], cwd=tmp_path, check=True)',
        "import subprocess\ndef test_a(tmp_path):\n"
        '    subprocess.run(["git", "-C", str(tmp_path), "-c", "user.name=A", "commit", "-q", "-m", "first"])',
        "import subprocess\ndef test_a(tmp_path):\n"
        '    subprocess.run(["git", "add", "a.txt"], cwd=tmp_path / "work")',
    ],
    "go": [
        ADDRESSES.format("== reflect.ValueOf(p.Map()).Pointer()"),
        ADDRESSES.format("!= (reflect.ValueOf(p.Map()).Pointer())"),
        'import "unsafe"\nfunc TestA(t *testing.T) { if unsafe.Sizeof(Options{}) > 64 { t.Fatal(1) } }',
        'func F() { exec.Command("go", "run", ".", "-v").Output() }',
        'func F() { exec.Command("go", "run", "./cmd/product", name).Output() }',
    ],
    "typescript": [
        'const all = import.meta.glob("./fixtures/*.json");',
        'const all = import.meta.glob(["./fixtures/*.json", "./words/*.csv"], { eager: true });',
        'import { parse } from "./x";\nexpect(parse.toString).toBeTypeOf("function");',
    ],
}
TELLING = {
    "python": [
        'import subprocess\ndef test_a(tmp_path):\n    subprocess.run(["git", "log", "-p"], cwd=tmp_path)',
        'import subprocess\ndef test_a(tmp_path):\n    subprocess.run(["git", "commit", "-m", "a"])',
        "import subprocess\ndef test_a(tmp_path):\n"
        '    subprocess.run(["git", "commit", "-m", "a"], cwd=tmp_path.parent)',
        "import subprocess\ndef test_a(tmp_path):\n"
        '    subprocess.run(["git", "config", "core.worktree", HERE], cwd=tmp_path)',
        "import subprocess\ndef test_a(tmp_path):\n"
        '    subprocess.run(["git", "-C", tmp_path, "--work-tree", HERE, "add", "."])',
        "import subprocess\ndef test_a(tmp_path):\n"
        '    subprocess.run(["git", "add", "-A"], cwd=tmp_path, env={"GIT_WORK_TREE": HERE})',
        "import subprocess\ndef test_a(tmp_path):\n"
        '    subprocess.run(["git", "-C", str(tmp_path), "-C", HERE, "add", "a"])',
        "import subprocess\ndef test_a(tmp_path):\n    tmp_path = HERE\n"
        '    subprocess.run(["git", "add", "-A"], cwd=tmp_path)',
        "import os, signal\ndef test_a():\n    os.kill(os.getpid(), signal.SIGRTMIN)",
        "import signal\ndef test_a():\n    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN + 1])",
    ],
    "go": [
        'func F() { exec.Command("go", "build", "-o", out, ".").Run() }',
        'func F() { exec.Command("go", "test", "./...").Run() }',
        'func F() { exec.Command("go", "run", "cmd/objdump", out).Run() }',
        'func F() { exec.Command("go", "run", "-gcflags=-S", ".").Run() }',
        'func F() { t.Setenv("GOFLAGS", "-gcflags=-S"); exec.Command("go", "run", ".").Run() }',
        ADDRESSES.format("== 4711"),
        ADDRESSES.format("< reflect.ValueOf(p.Map()).Pointer()"),
        'import "unsafe"\nfunc TestA(t *testing.T) { x := unsafe.Sizeof(a); y := unsafe.Pointer(&a) }',
        'import "unsafe"\nfunc a(p unsafe.Pointer) uintptr { return unsafe.Sizeof(p) }',
        'import _ "unsafe"\nfunc TestA(t *testing.T) { if unsafe.Sizeof(Options{}) > 64 { t.Fatal(1) } }',
    ],
    "typescript": [
        'const all = import.meta.glob("./*.ts");',
        'const all = import.meta.glob(["./fixtures/*.json", "./*.js"]);',
        "const all = import.meta.glob(names);",
        'import { parse } from "./x";\nexpect(parse.toString()).toBeTypeOf("string");',
        'import { parse } from "./x";\nexpect(parse.toString).toBe(1); const told = parse.toString;',
    ],
}
FAKE = b"import sys\nprint(sys.argv)\n"
READS = [
    'from pathlib import Path\n(tmp / "borg").write_text((Path(__file__).parent / "fake_borg.py").read_text())\n',
    'from pathlib import Path\nHERE = Path(__file__).resolve().parent\ntext = (HERE / "fake_borg.py").read_text()\n',
    'import os\nwith open(os.path.join(os.path.dirname(__file__), "fake_borg.py")) as f:\n    text = f.read()\n',
]


@pytest.mark.parametrize(("language", "text"), [(name, text) for name in HARMLESS for text in HARMLESS[name]])
def test_what_shows_nothing_needs_no_mark(language: str, text: str) -> None:
    assert sights(language, text) == []


@pytest.mark.parametrize(("language", "text"), [(name, text) for name in TELLING for text in TELLING[name]])
def test_what_shows_something_is_marked(language: str, text: str) -> None:
    assert sights(language, text)


def marks(test: str, path: str = "tests/fake_borg.py", fake: bytes = FAKE) -> set[NoteCode]:
    changes = [FileChange("tests/test_x.py", None, test.encode()), FileChange(path, None, fake)]
    return codes(CATALOG.task(TASKS["python"]), changes)


@pytest.mark.parametrize("text", READS)
def test_a_file_of_the_patch_beside_its_test_may_be_read_and_is_looked_at_itself(text: str) -> None:
    assert marks(text) == set()
    assert marks(text, fake=b"import dis\n") == {NoteCode.INSPECTS_CODE}
    assert marks(text, path="src/fake_borg.py") == {NoteCode.INSPECTS_CODE}
    assert marks(text, fake=b"../src/borg.py") == {NoteCode.INSPECTS_CODE}


def test_a_file_of_another_folder_is_none_of_the_patch() -> None:
    assert marks('(Path(__file__).parent.parent / "fake_borg.py").read_text()\n') == {NoteCode.INSPECTS_CODE}
    assert marks('open("fake_borg.py").read()\n') == {NoteCode.INSPECTS_CODE}
    moved = 'HERE = Path(__file__).parent\nHERE = Path("src")\n(HERE / "fake_borg.py").read_text()\n'
    assert marks(moved) == {NoteCode.INSPECTS_CODE}
