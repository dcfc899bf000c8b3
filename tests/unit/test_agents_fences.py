"""A block of a model's text is read in whole or refused: no part of one is ever run."""

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.agents.actions import FormatError, FormatFault, shell_block

_PIECES = ["```", "````", "~~~", "~~~~~", "```bash", "```python", "````sh", "~~~shell", "```x```", "E", "rm"]
_LINES = st.one_of(
    st.sampled_from([*_PIECES, "", " ```", "    ```", "\t```", "```\r", "cat > x.md <<'E'"]),
    st.text(string.ascii_letters + " `~<'\"E\t", max_size=12),
)
_NO_SHELL = _LINES.filter(lambda line: "sh" not in line.lower())
_TEXT = st.lists(_LINES, max_size=6)
_LANGUAGES = st.sampled_from(["bash", "sh", "shell", "Bash"])
_MARKS = st.builds(lambda mark, length: mark * length, st.sampled_from("`~"), st.integers(3, 6))


@given(st.lists(_NO_SHELL, max_size=6), _TEXT, _TEXT, _LANGUAGES, _MARKS)
@example(["```x"], ["cat > x <<'E'", "```", "```bash", "rm -rf /"], [], "bash", "```")
@example(["```x"], ["cat > x <<'E'", "```", "````bash", "rm -rf /", "````", "E"], [], "bash", "```")
def test_a_block_comes_out_whole_or_not_at_all(
    before: list[str], command: list[str], after: list[str], language: str, mark: str
) -> None:
    text = "\n".join([*before, f"{mark}{language}", *command, mark, *after])
    try:
        found = shell_block(text)
    except FormatError:
        return
    assert found == "".join(f"{line}\n" for line in command)


@given(st.lists(_LINES.filter(lambda line: "```" not in line), max_size=6), _LANGUAGES)
def test_a_block_without_its_own_fence_inside_is_always_read(command: list[str], language: str) -> None:
    whole = "".join(f"{line}\n" for line in command)
    assert shell_block(f"I look.\n\n```{language}\n{whole}```\nThen I write.") == whole


@given(st.text("`~bash \n\r\t<E'", max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        found = shell_block(text)
    except FormatError:
        return
    assert found in text.replace("\r\n", "\n") + "\n"


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("```sh\nls\n```", "ls\n"),
        ("```shell\nls\n```", "ls\n"),
        ("````bash\ncat > x.md <<'E'\n```python\nx\n```\nE\n````", "cat > x.md <<'E'\n```python\nx\n```\nE\n"),
        ("~~~bash\necho '```'\n```\n~~~", "echo '```'\n```\n"),
        ("``` bash title=look\nls\n`````", "ls\n"),
        ("1. I look:\n   ```bash\n   ls\n     pwd\n   ```", "ls\n  pwd\n"),
        ("```bash\r\nls\r\npwd\r\n```\r\n", "ls\npwd\n"),
        ("```python\nx\n```\nand so\n```bash\nls\n```", "ls\n"),
        ("```bash\ncat <<'E'\nx\nE\n```\nE", "cat <<'E'\nx\nE\n"),
    ],
)
def test_fences_of_any_form_are_read(text: str, command: str) -> None:
    assert shell_block(text) == command


@pytest.mark.parametrize(
    ("text", "fault", "detail"),
    [
        ("```bash\ncat > x.md <<'E'\n```python\nx\n```\nE\n```", FormatFault.INNER_FENCE, "```"),
        ("```bash\ncat > x.md <<'E'\n```\nx\n```\nE\n```", FormatFault.INNER_FENCE, "```"),
        ("```bash\ncat > x.md <<'E'\n```\nx\nE\n", FormatFault.INNER_FENCE, "```"),
        ("```bash\nls\n```\nIt prints:\n```\nx\n```", FormatFault.INNER_FENCE, "```"),
        ("```bash\n```bash\nls\n```", FormatFault.INNER_FENCE, "```"),
        ("```bash\nls\n```\n~~~sh\npwd\n~~~", FormatFault.SEVERAL_BLOCKS, "2"),
        ("````markdown\n```bash\nrm x\n```\n````\n```bash\nls\n```", FormatFault.SEVERAL_BLOCKS, "2"),
        ("```bash\nls", FormatFault.UNCLOSED_BLOCK, "```"),
        ("````bash\nls\n```", FormatFault.UNCLOSED_BLOCK, "````"),
        ("```\n```bash\nls\n```", FormatFault.NO_COMMAND, ""),
        ("```bash ls```", FormatFault.NO_COMMAND, ""),
        ("    ```bash\n    ls\n    ```", FormatFault.NO_COMMAND, ""),
    ],
)
def test_what_may_end_elsewhere_than_it_seems_to_is_refused(text: str, fault: FormatFault, detail: str) -> None:
    with pytest.raises(FormatError) as caught:
        shell_block(text)
    assert caught.value.complaints == ((None, fault, detail),)


def test_a_long_hostile_text_is_read_in_linear_time() -> None:
    for line in ("`" * 200_000, "~~~" + " " * 200_000 + "x", "<<'" * 70_000, "<<E " * 50_000, "```bash\n" * 30_000):
        with pytest.raises(FormatError):
            shell_block(f"````bash\n{line}\n````\n````")
