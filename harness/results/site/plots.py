"""Plots as SVG. Beside each stands a table with the same figures.

A plotting library's SVG made fit for a strict page: no style of its own, the page's colours, words beside it.
"""

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from markupsafe import Markup

from harness.results.site.pages import visible
from harness.results.statistics.proportions import Bounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#010203"
"""What is drawn in it has the colour of the page's text."""
_SVG, _LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_FONT = re.compile(r"(\d+(?:\.\d+)?)px")
_DROPPED = {f"{{{_SVG}}}{name}" for name in ("style", "metadata")}


def page_svg(text: str, name: str, title: str, description: str) -> Markup:
    """`text` is an SVG file; `name` begins the ids in it, which are the page's. Styles become attributes."""
    ET.register_namespace("", _SVG)
    ET.register_namespace("xlink", _LINK)
    root = ET.fromstring(text)
    _clean(root, name)
    for size in ("width", "height"):
        root.attrib.pop(size, None)
    root.attrib.update({"role": "img", "class": "plot", "aria-labelledby": f"{name}-title {name}-text"})
    for position, (tag, words) in enumerate((("title", title), ("desc", description))):
        item = ET.Element(f"{{{_SVG}}}{tag}", {"id": f"{name}-{'title' if tag == 'title' else 'text'}"})
        item.text = visible(words)
        root.insert(position, item)
    return Markup(ET.tostring(root, encoding="unicode"))  # serialised, so that all text is escaped


def _clean(item: ET.Element, name: str) -> None:
    for child in list(item):
        if child.tag in _DROPPED:
            item.remove(child)
        else:
            _clean(child, name)
    for part in item.attrib.pop("style", "").split(";"):
        key, _, value = part.partition(":")
        _set(item, key.strip(), value.strip())
    for key, value in list(item.attrib.items()):
        if key == "id":
            item.attrib[key] = f"{name}-{value}"
        elif key.endswith("href"):
            item.attrib[key] = f"#{name}-{value.removeprefix('#')}"
        else:
            item.attrib[key] = value.replace("url(#", f"url(#{name}-").replace(INK, "currentColor")


def _set(item: ET.Element, key: str, value: str) -> None:
    """A declaration of CSS as an attribute."""
    if key == "font":
        if size := _FONT.search(value):
            item.attrib["font-size"] = size[1]
    elif key and value:
        item.attrib[key] = value


COLOURS = ("#3b78c2", "#c0602a", "#2f8f5b", "#a35bb5", "#b0892a", "#5f7f8f", "#c24f6e", "#6b7bd6")
"""Each at least 3:1 on a white and on a nearly black page."""
_SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "testwright",
    "text.parse_math": False,
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK),
}


@dataclass(frozen=True)
class Point:
    """A system's place: `x` and `y`, with the interval of either where there is one."""

    label: str
    x: float
    y: float
    x_bounds: Bounds | None = None
    y_bounds: Bounds | None = None


@dataclass(frozen=True)
class Line:
    """A line of a plot: its label and its values."""

    label: str
    values: Sequence[float]


def interval_plot(name: str, title: str, text: str, points: Sequence[Point], x_label: str) -> Markup:
    """Return a dot with its interval in a row for each system; `x` runs from 0 to 1."""
    with _drawn(0.45 * len(points) + 1.1) as (axes, svg):
        for row, point in enumerate(reversed(points)):
            low, high = point.x_bounds or (point.x, point.x)
            axes.plot([low, high], [row, row], color=COLOURS[0], linewidth=2)
            axes.plot([point.x], [row], "o", color=COLOURS[0], markersize=8)
        axes.set_yticks(range(len(points)), [_short(point.label) for point in reversed(points)])
        axes.set_ylim(-0.6, len(points) - 0.4)
        _percent(axes)
        axes.set_xlabel(x_label)
    return page_svg(svg[0], name, title, text)


def scatter_plot(
    name: str, title: str, text: str, points: Sequence[Point], front: Sequence[Point], x_label: str, y_label: str
) -> Markup:
    """Return a labelled dot for each system, `y` from 0 to 1; a line through those of the front."""
    with _drawn(4.2) as (axes, svg):
        ordered = sorted(front, key=lambda point: point.x)
        axes.plot([p.x for p in ordered], [p.y for p in ordered], "--", color=COLOURS[5], drawstyle="steps-post")
        for index, point in enumerate(points):
            colour = COLOURS[index % len(COLOURS)]
            if point.y_bounds:
                axes.plot([point.x, point.x], list(point.y_bounds), color=colour, linewidth=1)
            axes.plot([point.x], [point.y], "o", color=colour, markersize=9)
            axes.annotate(_short(point.label), (point.x, point.y), xytext=(8, 6), textcoords="offset points")
        axes.set_ylim(-0.05, 1.05)
        axes.yaxis.set_major_formatter("{x:.0%}")
        axes.margins(x=0.25)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
    return page_svg(svg[0], name, title, text)


def stacked_plot(name: str, title: str, text: str, columns: Sequence[str], lines: Sequence[Line]) -> Markup:
    """Shares of each kind over `columns`, one above the other; the values of a column add up to at most 1."""
    with _drawn(3.4) as (axes, svg):
        floor = [0.0] * len(columns)
        for index, line in enumerate(lines):
            colour = COLOURS[index % len(COLOURS)]
            axes.bar(range(len(columns)), line.values, bottom=floor, color=colour, label=_short(line.label))
            floor = [low + value for low, value in zip(floor, line.values, strict=True)]
        axes.set_xticks(range(len(columns)), [_short(column) for column in columns])
        axes.yaxis.set_major_formatter("{x:.0%}")
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return page_svg(svg[0], name, title, text)


def bar_plot(name: str, title: str, text: str, groups: Sequence[str], lines: Sequence[Line]) -> Markup:
    """Bars side by side: one of each line in every group, values from 0 to 1."""
    width = 0.8 / max(1, len(lines))
    with _drawn(3.6) as (axes, svg):
        for index, line in enumerate(lines):
            places = [group + (index - (len(lines) - 1) / 2) * width for group in range(len(groups))]
            axes.bar(places, line.values, width, color=COLOURS[index % len(COLOURS)], label=_short(line.label))
        axes.set_xticks(range(len(groups)), [_short(group).replace(" ", "\n") for group in groups])
        axes.yaxis.set_major_formatter("{x:.0%}")
        axes.set_ylim(0, 1.02)
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return page_svg(svg[0], name, title, text)


@contextmanager
def _drawn(height: float) -> Iterator[tuple["Axes", list[str]]]:
    """Axes to draw on, eight units wide; at the end the list has the SVG."""
    import matplotlib
    from matplotlib.figure import Figure

    svg: list[str] = []
    with matplotlib.rc_context(_SETTINGS):
        figure = Figure(figsize=(8, height), layout="constrained")
        axes = figure.add_subplot()
        yield axes, svg
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
        svg.append(out.getvalue())


def _percent(axes: "Axes") -> None:
    axes.set_xlim(-0.02, 1.02)
    axes.xaxis.set_major_formatter("{x:.0%}")


def _short(label: str) -> str:
    """Return a label that a plot has room for."""
    plain = visible(label)
    return plain if len(plain) <= 40 else f"{plain[:39]}…"
