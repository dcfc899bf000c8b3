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
"""The colour that stands for that of the page's text."""
_SVG, _LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_FONT = re.compile(r"(\d+(?:\.\d+)?)px")
_DROPPED = {f"{{{_SVG}}}{name}" for name in ("style", "metadata")}


def page_svg(text: str, name: str, title: str, description: str) -> Markup:
    """Return an SVG file's text for a page: styles become attributes, and `name` begins the ids in it."""
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
    """Turn a declaration of CSS into an attribute."""
    if key == "font":
        if size := _FONT.search(value):
            item.attrib["font-size"] = size[1]
    elif key and value:
        item.attrib[key] = value


COLOURS = ("#3b78c2", "#c0602a", "#2f8f5b", "#a35bb5", "#b0892a", "#1f8a99", "#c24f6e", "#6b7bd6")
"""Each at least 3:1 on a white and on a nearly black page. `site.css` has the same."""
GREY = "#7d858d"
"""The colour of the kind `other`, and of lines that lead the eye."""
MARKS = ("o", "s", "D", "^", "v", "P", "X")
"""Their number isn't a multiple of the colours': a mark and a colour come together once in 56 systems."""
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
    """A system's place: `x` and `y`, with the interval of either where there is one. `style` is the system's."""

    label: str
    x: float
    y: float
    x_bounds: Bounds | None = None
    y_bounds: Bounds | None = None
    style: int = 0


@dataclass(frozen=True)
class Dots:
    """A system's values from 0 to 1, one for each row of a plot; None where it has none."""

    label: str
    style: int
    values: Sequence[float | None]
    bounds: Sequence[Bounds | None]


@dataclass(frozen=True)
class Line:
    """A line of a plot: its label, its values and its colour."""

    label: str
    values: Sequence[float]
    colour: str


def interval_plot(name: str, title: str, text: str, points: Sequence[Point], x_label: str) -> Markup:
    """Return a dot with its interval in a row for each system; `x` runs from 0 to 1."""
    with _drawn(0.4 * len(points) + 1.0) as (axes, svg):
        for row, point in enumerate(reversed(points)):
            _dot(axes, point.x, row, point.style, x_bounds=point.x_bounds)
        axes.set_yticks(range(len(points)), [_short(point.label) for point in reversed(points)])
        axes.set_ylim(-0.6, len(points) - 0.4)
        _percent(axes, x_label)
    return page_svg(svg[0], name, title, text)


def dots_plot(name: str, title: str, text: str, rows: Sequence[str], systems: Sequence[Dots], x_label: str) -> Markup:
    """Return a row for each of `rows`, with a dot and its interval for each system, one above the other."""
    height = max(1.0, 0.22 * len(systems))
    with _drawn(0.6 * height * len(rows) + 1.0) as (axes, svg):
        step = 0.7 / max(1, len(systems))
        for index, system in enumerate(systems):
            shift = ((len(systems) - 1) / 2 - index) * step
            known = zip(system.values, system.bounds, strict=True)
            for row, (value, bounds) in enumerate(known):
                if value is not None:
                    _dot(axes, value, len(rows) - 1 - row + shift, system.style, x_bounds=bounds)
            axes.plot([], [], _mark(system.style), color=_colour(system.style), label=_short(system.label))
        axes.set_yticks(range(len(rows)), [_short(row) for row in reversed(rows)])
        axes.set_ylim(-0.6, len(rows) - 0.4)
        _percent(axes, x_label)
        _legend(axes)
    return page_svg(svg[0], name, title, text)


def scatter_plot(
    name: str, title: str, text: str, points: Sequence[Point], front: Sequence[Point], x_label: str, y_label: str
) -> Markup:
    """Return a dot for each system, `y` from 0 to 1; a line through those of the front. The legend names them."""
    with _drawn(3.8) as (axes, svg):
        if front:
            ordered = sorted(front, key=lambda point: point.x)
            xs, ys = [point.x for point in ordered], [point.y for point in ordered]
            axes.plot(xs, ys, "--", color=GREY, drawstyle="steps-post", label="front", zorder=1)
        for point in points:
            _dot(axes, point.x, point.y, point.style, y_bounds=point.y_bounds)
            axes.plot([], [], _mark(point.style), color=_colour(point.style), label=_short(point.label))
        axes.set_ylim(-0.04, 1.04)
        axes.yaxis.set_major_formatter("{x:.0%}")
        most = max((point.x for point in points), default=0) or 1
        axes.set_xlim(-0.03 * most, 1.1 * most)
        axes.xaxis.set_major_formatter("${x:g}")
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        _legend(axes)
    return page_svg(svg[0], name, title, text)


def stacked_plot(
    name: str, title: str, text: str, columns: Sequence[str], lines: Sequence[Line], x_label: str, y_label: str
) -> Markup:
    """Plot the shares of each kind over `columns`, one above the other; a column's values add up to at most 1."""
    with _drawn(3.0) as (axes, svg):
        floor = [0.0] * len(columns)
        for line in lines:
            axes.bar(range(len(columns)), line.values, bottom=floor, color=line.colour, label=_short(line.label))
            floor = [low + value for low, value in zip(floor, line.values, strict=True)]
        axes.set_xticks(range(len(columns)), [_short(column) for column in columns])
        axes.yaxis.set_major_formatter("{x:.0%}")
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        _legend(axes)
    return page_svg(svg[0], name, title, text)


def _dot(
    axes: "Axes",
    x: float,
    y: float,
    style: int,
    x_bounds: Bounds | None = None,
    y_bounds: Bounds | None = None,
) -> None:
    """Draw a dot with its intervals; one at 0 is drawn whole, in front of the axis."""
    colour = _colour(style)
    if x_bounds:
        axes.plot(list(x_bounds), [y, y], color=colour, linewidth=2)
    if y_bounds:
        axes.plot([x, x], list(y_bounds), color=colour, linewidth=1.5)
    axes.plot([x], [y], _mark(style), color=colour, markersize=8, clip_on=False, zorder=3)


def _colour(style: int) -> str:
    return COLOURS[style % len(COLOURS)]


def _mark(style: int) -> str:
    return MARKS[style % len(MARKS)]


def _legend(axes: "Axes") -> None:
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)


@contextmanager
def _drawn(height: float) -> Iterator[tuple["Axes", list[str]]]:
    """Provide axes to draw on, eight units wide; at the end the list has the SVG."""
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


def _percent(axes: "Axes", label: str) -> None:
    axes.set_xlim(-0.02, 1.02)
    axes.axvline(0, color=GREY, linewidth=0.8, zorder=0)
    axes.xaxis.set_major_formatter("{x:.0%}")
    axes.set_xlabel(label)


def _short(label: str) -> str:
    """Return a label that a plot has room for."""
    plain = visible(label)
    return plain if len(plain) <= 40 else f"{plain[:39]}…"
