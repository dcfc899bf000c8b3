"""A plotting library's SVG made fit for a strict page: no style of its own, the page's colours, words beside it."""

import re
from xml.etree import ElementTree as ET

from markupsafe import Markup

from harness.site.visible import visible

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
