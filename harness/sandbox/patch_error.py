"""Turns git's message about a patch that it can't apply into one for the patch's author.

Only these sentences of git are an answer about a patch. Whatever else `git apply` ends with is a failure of git or of
the machine: a full disk must never look like a bad patch.
"""

import re

from harness.sandbox.git import GitError

_DAMAGED = (
    "corrupt patch|corrupt binary patch|unrecognized binary patch|patch with only garbage|invalid mode|bad git-diff|"
    "inconsistent header|git diff header lacks|patch fragment without header|unable to find filename in patch|"
    "invalid start of line"
)
_KNOWN: tuple[tuple[str, str], ...] = (
    (r"No valid patches in input|unrecognized input", "there is no change in it that git can read"),
    (r"patch failed: (?P<path>.*):(?P<line>\d+)$", "{path}: the change at line {line} doesn't fit the file"),
    (r"(?P<path>.*): patch does not apply$", "{path}: the change doesn't fit the file"),
    (r"(?P<path>.*): does not exist in index$", "{path}: there is no such file to change"),
    (r"(?P<path>.*): already exists in (?:index|working directory)$", "{path}: this file is there already"),
    (r"(?P<path>.*): (?:wrong type$|does not match index$)", "{path}: the file is of another type"),
    (r"(?P<path>.*) has type \d+, expected \d+$", "{path}: the file is of another type"),
    (r"new mode \(\d+\) of (?P<path>.*) does not match old mode", "{path}: the file's mode is another one"),
    (r"invalid path '(?P<unsafe>.*)'$", "{unsafe}: not a path inside the repository"),
    (r"(?:affected file|reading from) '(?P<path>.*)' (?:is )?beyond a symbolic link", "{path}: it is behind a link"),
    (r"path (?P<path>.*) has been renamed/deleted", "{path}: the patch renames or deletes it twice"),
    (r"new file (?P<path>.*) depends on old contents", "{path}: a new file can't change old lines"),
    (r"deleted file (?P<path>.*) still has contents", "{path}: a deleted file still has lines"),
    (r"removal patch leaves file contents", "a deleted file still has lines"),
    (r"cannot apply binary patch to '(?P<path>.*)' without full index", "{path}: a binary change has no full index"),
    (r"the patch applies to (?:an empty )?'(?P<path>.*)'", "{path}: the binary change is for another file"),
    (r"missing binary patch data for '(?P<path>.*)'", "{path}: a binary change has no data"),
    (r"binary patch does not apply to '(?P<path>.*)'", "{path}: the binary change doesn't fit the file"),
    (r"binary patch to '(?P<path>.*)' creates incorrect", "{path}: the binary change is damaged"),
    (r"cannot reverse-apply a binary patch .* to '(?P<path>.*)'", "{path}: the binary change has no way back"),
    (r"corrupt patch for submodule (?P<path>.*)", "{path}: the change of a submodule is damaged"),
    (r"unable to remove (?P<path>.*) from index", "{path}: it can't be removed"),
    (r"unable to add cache entry for (?P<path>.*)", "{path}: another file is in its way"),
    (r"'(?P<path>.*)' appears as both a file and as a directory$", "{path}: a file of another name is in its way"),
    (r"the necessary postimage \S+ for '(?P<path>.*)' cannot be read", "{path}: a binary change has no data"),
    (r"recount: unexpected line", "a hunk is damaged"),
    (r"BUG: |.*: Assertion .* failed", "its parts contradict each other"),
    (rf"(?:{_DAMAGED}).*?\blines? (?P<at>\d+)", "line {at} of the patch is damaged"),
)


class PatchError(GitError):
    """A patch doesn't fit a tree, or is none. The message says why, with file and line where git knows them.

    `path` is the file as the patch names it, or empty; `is_unsafe`, whether it is no path inside a repository.
    """

    def __init__(self, message: str, complaint: str, path: str = "", is_unsafe: bool = False) -> None:
        super().__init__(message, complaint)
        self.path = path
        self.is_unsafe = is_unsafe


def patch_error(complaint: str) -> PatchError | None:
    """What git's complaint says about a patch, or None where it isn't about the patch.

    The first line decides. Those after it may only be its consequences: a file that can't be read off the disk
    "does not apply" either.
    """
    lines = (line for line in complaint.splitlines() if not line.startswith("warning: "))
    first = re.sub(r"^(?:error|fatal): (?:git apply: )?", "", next(lines, ""))
    for pattern, message in _KNOWN:
        if found := re.match(pattern, first):
            names = found.groupdict()
            path = names.get("unsafe") or names.get("path") or ""
            return PatchError(message.format_map(names), complaint, path, "unsafe" in names)
    return None
