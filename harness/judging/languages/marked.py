"""Marks of nodes that were found by looking at a whole file, beside the rules for each type of node. Pure."""

from collections.abc import Iterable, Mapping

from tree_sitter import Node

from harness.judging.languages.conduct import Around, Remark, Rule, Shown

Found = dict[int, tuple[str, Node]]
"""By the number of a node: what it does, in words, and the part of it that decides."""


def with_found(rules: Mapping[str, Rule], found: Found, kinds: Iterable[str]) -> Mapping[str, Rule]:
    """Return rules that also mark what was found among nodes of these types."""
    return {**rules, **{kind: _also(rules.get(kind), found) for kind in kinds}} if found else rules


def _also(rule: Rule | None, found: Found) -> Rule:
    def shown(node: Node, around: Around) -> Shown:
        words, within = rule(node, around)[:2] if rule and node.id not in found else ("", around)
        if node.id not in found:
            return rule(node, around) if rule else (words, within)
        words, by = found[node.id]
        return Remark(words, rule(node, around)[1] if rule else around, [by])

    return shown
