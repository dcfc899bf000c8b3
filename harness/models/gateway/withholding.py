"""Withholding from a provider whatever of a request would have it act outside of the sandbox."""

from collections import Counter
from collections.abc import Callable, Collection, Container
from typing import Any

Json = dict[str, Any]
_KINDS = (
    ("web_search", "web-search"),
    ("googlesearch", "web-search"),
    ("googlemaps", "web-search"),
    ("web_fetch", "web-fetch"),
    ("urlcontext", "web-fetch"),
    ("code_execution", "code-execution"),
    ("codeexecution", "code-execution"),
    ("code_interpreter", "code-execution"),
    ("computer", "computer-use"),
    ("mcp", "mcp"),
    ("file_search", "file-search"),
    ("filesearch", "file-search"),
    ("shell", "code-execution"),
)
_HOSTED = "hosted-tool"
URL_MEDIA = "url-media"
STORED = "stored-at-provider"
OTHER_MODEL = "other-model"
_PARAMETER = "parameter"
_INSIDE = ("content", "parts", "output", "source")
"""Keys under which parts of messages hold further parts. What tools are called with is data, and stays."""


class RefusedRequest(Exception):
    """A request that means nothing without what is withheld from it. The message is for the agent."""


class Withheld:
    """A count, by kind, of what was taken out of one request. `known` are the names of the trial's own answers."""

    def __init__(self, known: Container[str] = ()) -> None:
        self.counts: Counter[str] = Counter()
        self.known = known

    def count(self, kind: str) -> None:
        self.counts[kind] += 1

    def refuse(self, kind: str, what: str) -> RefusedRequest:
        """Count something that is withheld, and return the error to raise for it."""
        self.count(kind)
        return RefusedRequest(f"{what} is not available here ({kind} is withheld: it would leave the sandbox)")

    def drop(self, body: Json, key: str, kind: str) -> None:
        """Take a parameter out. One that asks for nothing isn't counted."""
        if body.pop(key, None):
            self.count(kind)

    def others(self, body: Json, known: Collection[str]) -> None:
        """Take out the parameters that aren't known: searches, tiers and models of one provider, for instance."""
        for key in [key for key in body if key not in known]:
            self.drop(body, key, _PARAMETER)

    def tools(self, body: Json, hosted: Callable[[Json], str | None], forced: Callable[[Json], str]) -> None:
        """Take the tools out for which `hosted` has a name; `forced` says which tool a request insists on.

        Raises:
            RefusedRequest: No other tool is left, or the model must call one of them.
        """
        tools = body.get("tools")
        if not isinstance(tools, list):
            return
        names = [hosted(tool) if isinstance(tool, dict) else None for tool in tools]
        gone = [name for name in names if name]
        if not gone:
            return
        for name in gone:
            self.count(kind_of(name))
        if len(gone) == len(tools) or forced(body) in gone:
            raise RefusedRequest(f"the tool {gone[0]} is not available here: it would leave the sandbox")
        body["tools"] = [tool for tool, name in zip(tools, names, strict=True) if not name]

    def parts(self, value: Any, remote: Callable[[Json], str | None], note: Callable[[str], Json]) -> Any:
        """Return the value with a note in place of each part that `remote` has a kind for."""
        if isinstance(value, list):
            return [self.parts(item, remote, note) for item in value]
        if not isinstance(value, dict):
            return value
        if kind := remote(value):
            self.count(kind)
            return note(f"[{kind} is withheld: it is not in the sandbox]")
        return {key: self.parts(part, remote, note) if key in _INSIDE else part for key, part in value.items()}


def kind_of(tool: str) -> str:
    """Return the kind that a provider's own tool is counted under, by its name."""
    name = tool.lower()
    return next((kind for word, kind in _KINDS if word in name or word in name.replace("_", "")), _HOSTED)


def is_remote(url: Any) -> bool:
    """Return whether a URL, which may hold its data itself, points elsewhere."""
    return isinstance(url, str) and not url.startswith("data:")
