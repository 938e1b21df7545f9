"""Which function of a C or C++ file a line belongs to.

A brace scanner, not a parser: comments and literals are blanked, then each
brace that follows a parameter list opens a function, while those of namespaces
and types do not. Bodies are reported outermost first, so that a lambda belongs
to the function around it.
Limits: no macros that contain unbalanced braces, no raw string literals.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

BLANK = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:\\\n|[^\n])*',
    re.DOTALL | re.MULTILINE)
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum)\b[^()]*$|\bextern\s*$")


@dataclass(frozen=True)
class Function:
    first: int  # line of the name
    last: int   # line of the closing brace

    def __contains__(self, line: int) -> bool:
        return self.first <= line <= self.last


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def functions(text: str) -> list[Function]:
    text = BLANK.sub(_blank, text)
    found: list[Function] = []
    stack: list[int | None] = []  # start offset of a function, None for a scope
    head = 0  # where the text that decides about the next brace begins
    inside = 0
    for match in re.finditer(r"[{};]", text):
        char, at = match[0], match.start()
        if char == "{":
            before = text[head:at]
            is_function = inside == 0 and ")" in before and not SCOPE.search(before)
            start = head + len(before) - len(before.lstrip())
            stack.append(start if is_function else None)
            inside += is_function
        elif char == "}" and stack:
            start = stack.pop()
            if start is not None:
                inside -= 1
                found.append(Function(text.count("\n", 0, start) + 1,
                                      text.count("\n", 0, at) + 1))
        if inside == 0:
            head = at + 1
    return found


def function_at(found: list[Function], line: int) -> Function | None:
    return next((f for f in found if line in f), None)
