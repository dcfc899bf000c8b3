"""What asserts in TypeScript: vitest, jest, chai, node's own assert, ava and tap, and similar names."""

from functools import cache

from tree_sitter import Language, Node, Query, QueryCursor

from harness.languages.assertions import WORDS, Part, look, sounding
from harness.languages.found import text_of

_EXPECT = '"expect" "expectTypeOf"'
_SOUNDS = f"(?!^(?:expect|expectTypeOf)$)(?:{sounding(*WORDS, 'must', 'fail')})"
_OF_EXPECT = '"soft" "poll" "unreachable" "fail" "assertions" "hasAssertions"'
_OF_T = (
    "is not deepEqual notDeepEqual true false truthy falsy throws throwsAsync notThrows like regex snapshot fail"
    " assert ok notOk equal notEqual equals same notSame match error rejects resolves"
)
_CHECKS = f"""
    (throw_statement) @check
    ([(member_expression object: (call_expression function: (identifier) @check))
      (subscript_expression object: (call_expression function: (identifier) @check))] @_ (#any-of? @check {_EXPECT}))
    ((call_expression function: (member_expression object: (identifier) @of property: (property_identifier) @check))
        @_ (#eq? @of "expect") (#any-of? @check {_OF_EXPECT}))
    ((call_expression function: (member_expression object: (identifier) @of property: (property_identifier) @check))
        @_ (#eq? @of "assert"))
    ((call_expression function: (member_expression object: (member_expression object: (identifier) @of)
        property: (property_identifier) @check)) @_ (#eq? @of "assert"))
    ((call_expression function: (member_expression object: (member_expression property: (property_identifier) @of)
        property: (property_identifier) @check)) @_ (#eq? @of "assert"))
    ((call_expression function: (member_expression object: (identifier) @of property: (property_identifier) @check))
        @_ (#any-of? @of "t" "tap") (#any-of? @check {" ".join(f'"{name}"' for name in _OF_T.split())}))
    ((member_expression property: (property_identifier) @check) @_ (#eq? @check "should"))
    ((call_expression
        function: (member_expression object: (identifier) @of property: (property_identifier) @harmless))
        @_ (#eq? @of "console"))
    ((call_expression function: (identifier) @call)
        @_ (#match? @call "{_SOUNDS}"))
    ((call_expression function: (member_expression property: (property_identifier) @method))
        @_ (#match? @method "{sounding("assert", "expect")}"))
    [(identifier) (shorthand_property_identifier)] @name
    (member_expression property: (property_identifier) @member) @_
"""
_FUNCTIONS = """
    (function_declaration name: (identifier) @name) @function
    (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)]) @function
    (method_definition name: (property_identifier) @member) @function
    (pair key: (property_identifier) @member value: [(arrow_function) (function_expression)]) @function
"""


MAX_DEPTH = 8
"""Of functions within functions: deeper ones are read as part of what stands around them."""


@cache
def _queries(grammar: Language) -> tuple[Query, Query]:
    return Query(grammar, _CHECKS), Query(grammar, _FUNCTIONS)


def typescript_part(grammar: Language, node: Node) -> Part:
    return look(_queries(grammar)[0], node)


def functions(grammar: Language, root: Node) -> list[tuple[str, Node]]:
    """Functions of a file that have a name, but for those deep within others; a method's begins with a dot."""
    named: list[tuple[str, Node]] = []
    around: list[int] = []
    matches = [found for _, found in QueryCursor(_queries(grammar)[1]).matches(root)]
    for found in sorted(matches, key=lambda found: found["function"][0].start_byte):
        node = found["function"][0]
        while around and around[-1] <= node.start_byte:
            around.pop()
        if len(around) < MAX_DEPTH:
            around.append(node.end_byte)
            member = "member" in found
            named.append(("." * member + text_of(found["member" if member else "name"][0]), node))
    return named
