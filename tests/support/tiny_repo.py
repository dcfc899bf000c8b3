"""A repo and a task whose images are made in seconds and without a network: a few files on the base image."""

import base64
import hashlib
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

import yaml

from harness.specs.repo import Repo
from harness.specs.rubric import Rubric
from harness.specs.task import Task, TaskFile

PRODUCT = "def add(left, right):\n    return left + right\n"
KEPT_TEST = "from tiny import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n"
WITHHELD_TEST = "\n\ndef test_adds_negative_numbers():\n    assert add(-1000001, -2000002) == -3000003\n"
TREE = {
    "tiny/__init__.py": PRODUCT,
    "tests/test_tiny.py": KEPT_TEST + WITHHELD_TEST,
    "tests/.gitattributes": "*.py text eol=crlf\n",  # must not make the work tree look changed
    "go.sh": "#!/bin/sh\n",
    "PKG-INFO": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
    "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
    # As little of PEP 517 and 660 as pip needs for a development install.
    "backend.py": """\
import os, pathlib, zipfile

FILES = {
    "tiny-1.0.dist-info/METADATA": "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n",
    "tiny-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\\nGenerator: tiny\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    "tiny-1.0.dist-info/entry_points.txt": "[console_scripts]\\ntiny-add = tiny.command:main\\n",
    "__editable__.tiny.pth": os.getcwd() + "\\n",
}


def prepare_metadata_for_build_wheel(directory, settings=None):
    place = pathlib.Path(directory) / "tiny-1.0.dist-info"
    place.mkdir()
    (place / "METADATA").write_text(FILES["tiny-1.0.dist-info/METADATA"])
    return place.name


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_editable(directory, settings=None, metadata=None):
    with zipfile.ZipFile(pathlib.Path(directory) / "tiny-1.0-py3-none-any.whl", "w") as wheel:
        for name, text in FILES.items():
            wheel.writestr(name, text)
        wheel.writestr("tiny-1.0.dist-info/RECORD", "".join(f"{name},,\\n" for name in FILES))
    return "tiny-1.0-py3-none-any.whl"
""",
    "tiny/command.py": "import tiny\n\n\ndef main():\n    print(tiny.add(20, 22))\n",
}
WITHHELD_PATCH = """\
diff --git a/tests/test_tiny.py b/tests/test_tiny.py
--- a/tests/test_tiny.py
+++ b/tests/test_tiny.py
@@ -4,6 +4,2 @@
 def test_adds():
     assert add(1, 2) == 3
-
-
-def test_adds_negative_numbers():
-    assert add(-1000001, -2000002) == -3000003
"""
_CASE = '<testcase classname="tests.test_tiny" name="test_adds"/>'
RUN_TESTS = f"""#!/bin/sh
[ "$(id -un)" = agent ] || exit 9
echo '<testsuites><testsuite name="s">{_CASE}</testsuite></testsuites>' > "$TESTWRIGHT_REPORT_DIR/1.xml"
"""


def tiny_repo(
    directory: Path, build_step: str = "true", nonce: str = "", run_tests: str = RUN_TESTS, backend: str = ""
) -> Repo:
    """`directory` gets the recipe. `build_step` runs with both secrets mounted; `nonce` makes images of their own.

    `backend` is more code of the release's build backend.
    """
    directory.mkdir(parents=True, exist_ok=True)
    release = _archive({**TREE, "backend.py": TREE["backend.py"] + backend})
    mounts = "--mount=type=secret,id=ca,required=false --mount=type=secret,id=pip_conf,required=false"
    (directory / "Dockerfile").write_text(
        "ARG BASE\nFROM ${BASE} AS dependencies\n"
        f"# {nonce}\n"
        f"RUN {mounts} : {nonce}; {build_step}\n"
        "RUN useradd --create-home --uid 1000 agent && install -d -o agent -g agent /app\n"
        "WORKDIR /app\n"
        'CMD ["bash"]\n'
        "COPY --chmod=755 run_tests.sh /usr/local/bin/run_tests\n"
        "FROM dependencies AS repo\n"
        f"RUN echo {base64.b64encode(release).decode()} | base64 -d | tar xz --strip-components=1 -C /app\n"
        "USER agent\n"
    )
    (directory / "run_tests.sh").write_text(run_tests)
    (directory / "requirements.lock").write_text("# none\n")
    (directory / "release").mkdir(exist_ok=True)
    (directory / "release" / "tiny-1.0.tar.gz").write_bytes(release)
    repo = Repo.model_validate(
        {
            "name": "tiny",
            "language": "python",
            "upstream": "https://example.invalid/tiny",
            "version": "1.0",
            "licence": "MIT",
            "source": {
                "kind": "pypi",
                "package": "tiny",
                "version": "1.0",
                "sha256": hashlib.sha256(release).hexdigest(),
            },
            "report": "junit",
            "test_paths": ["tests/**"],
            "limits": {"memory_mb": 256, "disk_mb": 64},
            "local": {"requirements": "requirements.lock"},
        }
    )
    (directory / "repo.yaml").write_text(yaml.safe_dump(repo.model_dump(mode="json")))
    return repo.model_copy(update={"directory": directory})


def tiny_task(repo: Repo, directory: Path, withheld: str = WITHHELD_PATCH) -> Task:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "withheld.patch").write_text(withheld)
    criterion = {
        "id": "1.1",
        "axis": 1,
        "importance": "must",
        "statement": "Adds negative numbers.",
        "graded_by": ["probe"],
    }
    return Task(
        file=TaskFile.model_validate({"id": "tiny-add", "repo": "tiny", "kind": "unit", "title": "add"}),
        repo=repo,
        rubric=Rubric.model_validate({"task": "tiny-add", "criteria": [criterion]}),
        directory=directory,
    )


def _archive(files: Mapping[str, str]) -> bytes:
    """A release as upstream would publish it, the same bytes each time."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"tiny-1.0/{name}")
            entry.size, entry.mode, entry.mtime = len(text.encode()), 0o755 if name.endswith(".sh") else 0o644, 0
            tar.addfile(entry, io.BytesIO(text.encode()))
    data = bytearray(packed.getvalue())
    data[4:8] = bytes(4)  # gzip's own time stamp
    return bytes(data)
