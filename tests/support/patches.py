"""Submissions made of text."""

from harness.judging.submission.extraction import Submission


def new_test_file(path: str, text: str, *names: str) -> Submission:
    """A submission that adds one file, and lists these of its tests."""
    lines = text.strip("\n").splitlines()
    body = "".join(f"+{line}\n" for line in lines)
    head = f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
    manifest = f"- file: {path}\n  tests:\n" + "".join(f'    - "{name}"\n' for name in names)
    return Submission(f"{head}@@ -0,0 +1,{len(lines)} @@\n{body}".encode(), manifest.encode())
