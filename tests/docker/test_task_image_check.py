"""Image checks: clean images pass, and whatever is planted in one is found."""

import io
import marshal
import re
import tarfile
from pathlib import Path

import docker
import pytest

from harness.authoring.repo_build import repo_check
from harness.authoring.task_image_check import other_copies, task_image_check
from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.task_images import task_image
from harness.specs.catalog import Catalog
from harness.specs.task import Task
from tests.support.tiny_repo import TREE, tiny_repo, tiny_task

pytestmark = pytest.mark.docker


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return tiny_task(tiny_repo(tmp_path / "repo"), tmp_path / "task")


def derive(client: docker.DockerClient, reference: str, tag: str, files: dict[str, bytes], env: str = "") -> str:
    """A further layer with files, as `testwright/tiny-TAG`; the nonce fixture removes it."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for path, data in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    container = client.containers.create(reference)
    try:
        container.put_archive("/", packed.getvalue())
        container.commit("testwright/tiny-derived", tag, changes=[f"ENV {env}"] if env else [])
    finally:
        container.remove()
    return f"testwright/tiny-derived:{tag}"


@pytest.mark.dear("searches every file of an image")
async def test_image_of_a_shipped_task_is_clean() -> None:
    assert await task_image_check(Catalog().task("aiosmtpd-call-limit")) == []


@pytest.mark.dear("searches every file of two images")
async def test_planted_copy_reflog_and_proxy_are_found(
    client: docker.DockerClient, nonce: str, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://someone:secret-word@proxy.invalid:3128")
    clean = (await task_image(task)).reference
    assert await task_image_check(task) == []
    removed = task.patch("withheld.patch").decode().splitlines()
    [line] = [at for at, text in enumerate(removed, 1) if text.startswith("-def test_adds_negative_numbers")]
    planted = {
        "opt/venv/lib/python3.11/site-packages/tests/test_tiny.py": TREE["tests/test_tiny.py"].encode(),
        "app/.git/logs/HEAD": b"old new upstream\n",
    }
    derived = derive(client, clean, nonce, planted, "https_proxy=http://someone:secret-word@proxy.invalid:3128")
    found = {problem.where.rpartition(":")[2]: problem.message for problem in await task_image_check(task, derived)}
    assert found == {
        "/opt/venv/lib/python3.11/site-packages/tests/test_tiny.py": (
            f"holds withheld tests (test_adds_negative_numbers from withheld.patch:{line})"
        ),
        "/app/.git": "logs/HEAD has no place in a repository of one commit",
        "/configuration and history": "holds this machine's HTTPS_PROXY",
    }


@pytest.mark.dear("reads every file of an image as text and as compiled code")
async def test_copies_of_the_removed_code_are_found_as_text_and_compiled(
    client: docker.DockerClient, nonce: str
) -> None:
    task = Catalog().task("aiosmtpd-proxy-tlv")
    image = await task_image(task)
    text = await GitTree(image.tree).read("aiosmtpd/proxy_protocol.py")
    code = marshal.dumps(compile(text, "proxy.py", "exec"))
    planted = {"opt/backup/proxy.txt": text, "usr/lib/cache/proxy.pyc": bytes(16) + code, "opt/other.py": b"pass\n"}
    derived = derive(client, image.reference, nonce, planted)
    found = {problem.where.rpartition(":")[2]: problem.message for problem in await other_copies(task, derived)}
    assert found.keys() == {"/opt/backup/proxy.txt", "/usr/lib/cache/proxy.pyc"}
    pattern = r"holds code that the removal takes out \((\S.* from removal\.patch:\d+(, )?)+\): a test could ask it"
    assert all(re.fullmatch(pattern, message) for message in found.values()), found


@pytest.mark.dear("searches every file of an image")
async def test_second_commit_and_what_it_deleted_are_found(client: docker.DockerClient, nonce: str) -> None:
    """The agent's tree is clean; only git and a lower layer still know."""
    task = Catalog().task("aiosmtpd-call-limit")
    image = await task_image(task)
    withheld = "\n".join(
        line[1:] for line in task.patch("withheld.patch").decode().splitlines() if line.startswith("-") and line[1:2]
    )
    script = (
        "git add new.py && git -c user.name=a -c user.email=a@a commit --quiet --message=x"
        " && git rm --quiet new.py && git -c user.name=a -c user.email=a@a commit --quiet --message=y"
    )
    container = client.containers.create(
        image.reference, ["sh", "-c", f"cat > new.py <<'E'\n{withheld}\nE\n{script}"]
    )
    container.start()
    assert container.wait(timeout=60)["StatusCode"] == 0
    container.commit("testwright/tiny-derived", nonce)
    container.remove()
    problems = await task_image_check(task, f"testwright/tiny-derived:{nonce}")
    messages = [problem.message for problem in problems]
    assert any(message.startswith("logs/HEAD has no place") for message in messages)
    assert any(message.startswith("it has 3 commits") for message in messages)
    leaks = [problem for problem in problems if "holds withheld tests" in problem.message]
    assert leaks
    assert all("/app/.git/objects/" in problem.where for problem in leaks)


async def test_green_suite_without_rights_or_network_passes(tmp_path: Path) -> None:
    check = await repo_check(tiny_repo(tmp_path / "repo"))
    assert (check.problems, check.tests) == ((), 1)


async def test_red_suite_and_missing_reports_are_problems(nonce: str, tmp_path: Path) -> None:
    red = "#!/bin/sh\n# " + nonce + "\necho 3 failed\nexit 1\n"
    check = await repo_check(tiny_repo(tmp_path / "repo", run_tests=red))
    assert check.tests == 0
    assert [problem.message for problem in check.problems] == [
        "upstream's tests ended with status 1: 3 failed",
        "no test is in the reports; does run_tests write them to $TESTWRIGHT_REPORT_DIR?",
    ]
