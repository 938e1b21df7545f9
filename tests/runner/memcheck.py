"""Reads the XML that `valgrind --tool=memcheck --xml=yes` writes.

Each loss record is one `error`. A definite one counts its indirect bytes in
`leakedbytes`, too, and only the text tells them apart; the indirect blocks are
listed again as records of their own, from which we take them.
Blocks reached by interior pointers only are "possibly lost" there and
references in the contract's words: forgotten.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from observed import EngineError, FoundLeak, Frame
from truth import Count

KINDS = {
    "Leak_DefinitelyLost": "lost",
    "Leak_IndirectlyLost": "lost",
    "Leak_PossiblyLost": "forgotten",
    "Leak_StillReachable": "forgotten",
}
DIRECT = re.compile(r"\(([\d,]+) direct, [\d,]+ indirect\)")


def _stack(error: ElementTree.Element) -> list[Frame]:
    frames = []
    for frame in error.findall("./stack[1]/frame"):
        line = frame.findtext("line")
        frames.append(Frame(frame.findtext("fn"), frame.findtext("file"),
                            int(line) if line else None))
    return frames


def _leak(error: ElementTree.Element, kind: str) -> FoundLeak:
    text = error.findtext("xwhat/text") or ""
    size = int(error.findtext("xwhat/leakedbytes") or 0)
    blocks = int(error.findtext("xwhat/leakedblocks") or 0)
    if match := DIRECT.search(text):
        size = int(match[1].replace(",", ""))
    attributed = kind == "Leak_IndirectlyLost"
    count = Count(blocks, size)
    return FoundLeak(KINDS[kind], Count() if attributed else count,
                     count if attributed else Count(), _stack(error), attributed=attributed)


def read_xml(path: Path) -> tuple[list[FoundLeak], list[str]]:
    """The leaks, and the errors of memory use that memcheck saw."""
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError) as error:
        raise EngineError(f"memcheck's report {path}: {error}") from error
    leaks, errors = [], []
    for error in root.findall("error"):
        kind = error.findtext("kind") or ""
        if kind in KINDS:
            leaks.append(_leak(error, kind))
        else:
            errors.append(f"{kind}: {error.findtext('what') or error.findtext('xwhat/text')}")
    return leaks, errors
