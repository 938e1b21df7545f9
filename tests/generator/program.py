"""A program under construction, and the truth about it.

Stories (see stories.py) add types, functions and calls. Each line of code can
carry marks (ALLOC, LOSS, USE of a label), set when the line is written or
later, when its fate is decided. Line numbers exist only once the program is
assembled; the annotated text and the truth both come from the same marks.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from truth import Count, Label, LossPlace, Truth


@dataclass
class Line:
    text: str
    marks: list[str] = field(default_factory=list)

    def mark(self, text: str) -> None:
        if text not in self.marks:
            self.marks.append(text)

    def __str__(self) -> str:
        return f"{self.text}  // {'; '.join(self.marks)}" if self.marks else self.text


@dataclass
class Part:
    """Equal blocks of one item, allocated by one line; `parts` hang on them."""

    line: Line
    count: int
    size: int
    parts: list[Part] = field(default_factory=list)

    def own(self, times: int) -> Count:
        return Count(self.count * times, self.count * self.size * times)

    def below(self, times: int) -> Count:
        return sum((p.own(times) + p.below(times) for p in self.parts), Count())

    def lines(self) -> list[Line]:
        return [self.line] + [line for part in self.parts for line in part.lines()]


class Program:
    """`lang` is "c" or "c++"."""

    def __init__(self, seed: int, lang: str) -> None:
        self.seed = seed
        self.lang = lang
        self.random = random.Random(f"{lang}:{seed}")
        self.includes = {'"case.h"'}
        self.code: list[Line] = []  # in an order in which nothing is used before it is there
        self.main: list[Line] = []
        self.labels: list[Label] = []
        self._names = 0

    @property
    def is_cxx(self) -> bool:
        return self.lang == "c++"

    def name(self, stem: str) -> str:
        """A new name: no two things of a program share one."""
        self._names += 1
        return f"{stem}_{self._names}"

    def touch(self, expression: str) -> str:
        """A use that no other function has: compilers fold functions that are equal."""
        self._names += 1
        return f"if (opaque({self._names})) touch({expression});"

    def add_type(self, *texts: str) -> None:
        self.code += [*(Line(text) for text in texts), Line("")]

    def add_function(self, lines: list[Line]) -> None:
        self.code += [*lines, Line("")]

    def add_label(self, kind: str, parts: list[Part], times: int, cause: str | None) -> Label:
        """A fate of these parts: marks where they are allocated and records the sizes."""
        label = Label(f"s{len(self.labels)}", kind,
                      sum((p.own(times) for p in parts), Count()),
                      sum((p.below(times) for p in parts), Count()), cause)
        for part in parts:
            for line in part.lines():
                line.mark(f"ALLOC({label.name})")
        self.labels.append(label)
        return label

    def assemble(self) -> tuple[str, Truth]:
        """The annotated source, and the truth with its line numbers."""
        lines = [Line(f"// CASE: generated from seed {self.seed}.")]
        for label in self.labels:
            lines.append(Line(f"// EXPECT({label.name}): {expectation(label)}"))
            if label.cause:
                lines.append(Line(f"// CAUSE({label.name}): {label.cause}"))
        if not self.labels:
            lines.append(Line("// EXPECT: none"))
        lines.append(Line("// FLAGS: -pthread"))
        lines += [Line(f"#include {name}") for name in sorted(self.includes)] + [Line("")]
        lines += self.code
        lines += [Line("int main(void) {" if not self.is_cxx else "int main() {"), *self.main,
                  Line("  return 0;"), Line("}")]
        for number, line in enumerate(lines, 1):
            for mark in line.marks:
                self._place(mark, number)
        return "\n".join(str(line) for line in lines) + "\n", Truth(self.labels)

    def _place(self, mark: str, number: int) -> None:
        kind, _, rest = mark.partition("(")
        name, _, holders = rest.partition(")")
        label = next(label for label in self.labels if label.name == name)
        if kind == "ALLOC":
            label.allocs.append(number)
        elif kind == "USE":
            label.uses.append(number)
        else:
            names = tuple(h.strip() for h in holders.split("|")) if holders.strip() else ()
            label.losses.append(LossPlace(number, names))


def expectation(label: Label) -> str:
    text = f"{label.kind} {label.direct}"
    return text + (f", indirect {label.indirect}" if label.indirect.blocks else "")


def truth_json(program: Program, truth: Truth, source: str) -> dict[str, Any]:
    return {
        "schema": "plumb-truth/1",
        "seed": program.seed,
        "language": program.lang,
        "source": source,
        "objects": [{
            "label": label.name,
            "kind": label.kind,
            "blocks": label.direct.blocks,
            "bytes": label.direct.bytes,
            "indirect": {"blocks": label.indirect.blocks, "bytes": label.indirect.bytes},
            "cause": label.cause,
            "allocations": label.allocs,
            "losses": [{"line": loss.line, "holders": list(loss.holders)}
                       for loss in label.losses],
            "uses": label.uses,
        } for label in truth.labels],
    }
