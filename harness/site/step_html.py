"""A step of a trajectory as HTML that folds.

Written out here rather than in a template: a large site has a hundred thousand steps, and half of the time that they
took went into Jinja2's calls.
"""

from functools import lru_cache
from html import escape

from harness.site.texts import Text
from harness.site.trajectories import Entry, Step
from harness.site.visible import visible

_TITLES = {"call": "calls", "fact": "", "fault": ""}


def folded(step: Step, root: str) -> str:
    """`root` leads from the page to the site's folder."""
    fault = ' data-fault="1"' if step.has_fault else ""
    ends = [f' <span class="end">{_label(end)}</span>' for end in step.ends]
    if step.has_fault:
        ends.append(' <span class="end fault">failed request</span>')
    entries = "".join([_entry(entry, root) for entry in step.entries])
    return (
        f'<details class="step" id="{_label(step.anchor)}"{fault}><summary>'
        f'<span class="number">{step.number or "·"}</span> <code>{_shown(step.summary or "no words")}</code>'
        f"{''.join(ends)}</summary>\n{entries}</details>\n"
    )


def _entry(entry: Entry, root: str) -> str:
    kind = _label(entry.kind)
    text = _text(entry.text, root, kind) if entry.text else ""
    return (
        f'<div class="entry {kind}"><p><strong>{_TITLES.get(entry.kind, kind)}</strong> {_label(entry.title)}</p>\n'
        f"{text}</div>\n"
    )


def _text(text: Text, root: str, label: str) -> str:
    whole = f'<pre tabindex="0" aria-label="{label}">{_shown(text.shown)}</pre>\n'
    if not text.more:
        return whole
    link = f'<a href="{_shown(root)}{_shown(text.file)}">the whole text</a>'
    return f'{whole}<p class="cut">Cut here: {text.more:,} more characters are in {link}.</p>\n'


def _shown(text: str) -> str:
    return escape(visible(text))


@lru_cache(4096)
def _label(text: str) -> str:
    """What many steps have in common."""
    return _shown(text)
