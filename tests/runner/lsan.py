"""Reads LeakSanitizer's text report.

It lists lost blocks only. A cycle has no direct block there, so its direct
figures are not comparable; sums are.
"""

from __future__ import annotations

import re

from observed import FoundLeak, Frame
from truth import Count

RECORD = re.compile(r"^(Direct|Indirect) leak of (\d+) byte\(s\) in (\d+) object\(s\) allocated")
FRAME = re.compile(r"^ +#\d+ 0x[0-9a-f]+ (?:in )?(.*)$")
PLACE = re.compile(r"^(.*?) (\S+?):(\d+)(?::\d+)?$")


def _frame(text: str) -> Frame:
    if match := PLACE.match(text):
        return Frame(match[1], match[2], int(match[3]))
    return Frame(text.split(" (")[0])


def read_text(text: str) -> list[FoundLeak]:
    leaks: list[FoundLeak] = []
    for line in text.splitlines():
        if record := RECORD.match(line):
            attributed = record[1] == "Indirect"
            count = Count(int(record[3]), int(record[2]))
            leaks.append(FoundLeak("lost", Count() if attributed else count,
                                   count if attributed else Count(), attributed=attributed))
        elif leaks and (frame := FRAME.match(line)):
            leaks[-1].allocation.append(_frame(frame[1]))
    return leaks
