"""Leaks that the histories of C and C++ projects fixed: found before, gone after?

fixes.json lists them: the project, the commit that fixed the leak, and where it was
(file, function, line of the allocation and of the loss, all of the version before).
The projects are third-party and kept outside of the repository: DIR/fixes/NAME/before
and DIR/fixes/NAME/after hold the two versions, each with a compile_commands.json, where
NAME is the project and the first seven digits of the commit. What is absent is named.

A leak is found when one finding has the allocation at the line given (in any frame of
its stack) and is lost in the function given. It is gone when no finding of the fixed
version is allocated and lost in these functions any more. `half` in the table says what
a leak is for. Those of the report are of other projects than those developed on, and were
chosen before the command was run on any of them: of each project the newest commits, first
two in C and three in C++, that speak of a memory leak, change one source by at most twelve
lines more and six less, add a call that frees, and lose in a function what it allocated or
got from a call. (Left out by reading the change alone: what is only freed in a destructor or
at the end, what only a failed allocation loses, blocks of other libraries, of pools or
of an earlier call, code for other systems.) `set_aside_once`: was of the report before these
were, and is developed on since it was looked at. Of seventeen further projects every second
one by the alphabet was set aside; three that could not be set up were left out. Of ten more
(those that compile with what their own tree and a plain Debian have) every second leak was.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from static import projects

TABLE = Path(__file__).resolve().parent / "fixes.json"


@dataclass
class Fix:
    project: str
    commit: str
    language: str
    half: str
    file: str
    allocated_in: str
    allocation: int  # line
    lost_in: str
    loss: int  # line
    across: bool  # what allocates, holds or loses it is in several files
    what: str
    set_aside_once: bool = False

    @property
    def name(self) -> str:
        return f"{self.project}-{self.commit[:7]}"


def table() -> list[Fix]:
    return [Fix(**each) for each in json.loads(TABLE.read_text())]


def is_in(frame: dict, function: str) -> bool:
    return function in frame.get("function", "")


def is_lost_in(leak: dict, fix: Fix) -> bool:
    return any(is_in(frame, fix.lost_in) for frame in projects.frames(leak, "loss"))


def names_before(leak: dict, fix: Fix) -> bool:
    allocated = any(projects.is_at(frame, fix.file, fix.allocation)
                    for frame in projects.frames(leak, "allocation"))
    return allocated and is_lost_in(leak, fix)


def names_after(leak: dict, fix: Fix) -> bool:
    allocated = any(is_in(frame, fix.allocated_in)
                    for frame in projects.frames(leak, "allocation"))
    return allocated and is_lost_in(leak, fix)


@dataclass
class Count:
    found: int = 0
    gone: int = 0
    all: int = 0

    def __str__(self) -> str:
        return f"{self.found} of {self.all} = {100 * self.found / max(1, self.all):.0f}%"


def measure_fixes(root: Path, plumb: Path, half: str, verbose: bool, jobs: int) -> None:
    fixes = [fix for fix in table() if half in ("all", fix.half)]
    absent = [fix for fix in fixes
              if not (root / fix.name / "before" / "compile_commands.json").exists()]
    if absent:
        print(f"absent: {', '.join(fix.name for fix in absent)}\n")
    fixes = [fix for fix in fixes if fix not in absent]
    groups = {"all": lambda f: True, "C": lambda f: f.language == "C",
              "C++": lambda f: f.language == "C++", "across files": lambda f: f.across,
              "set aside": lambda f: f.half == "report"}
    counts = {name: Count() for name in groups}
    undecided = {name: 0 for name in groups}

    def look(fix: Fix) -> tuple[Fix, str, bool]:
        before, after = (projects.check(plumb, root / fix.name / when / "compile_commands.json", ())
                         for when in ("before", "after"))
        named = [leak for leak in before.leaks if names_before(leak, fix)]
        shown = [leak for leak in named if "suppressed" not in leak]
        verdict = "found" if shown else "undecided" if named else before.problem or "missed"
        gone = not after.problem and not any(
            names_after(leak, fix) for leak in after.leaks if "suppressed" not in leak)
        return fix, verdict, gone

    with ThreadPoolExecutor(jobs) as pool:
        for fix, verdict, gone in pool.map(look, fixes):
            for name, has in groups.items():
                if has(fix):
                    counts[name].all += 1
                    counts[name].found += verdict == "found"
                    counts[name].gone += verdict == "found" and gone
                    undecided[name] += verdict == "undecided"
            if verbose:
                print(f"{fix.name}: {verdict}, {'gone' if gone else 'not gone'} after "
                      f"({fix.file}:{fix.allocation} {fix.lost_in})", flush=True)
    print("| leaks | found before | of these gone after | undecided, so hidden |")
    print("|---|---|---|---|")
    for name, count in counts.items():
        print(f"| {name} | {count} | {count.gone} of {count.found} | {undecided[name]} |", flush=True)
