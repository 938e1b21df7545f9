#!/usr/bin/env python3
"""Do the leak tests of Valgrind and of LeakSanitizer lose the same blocks when they are
built by `plumb cc`?

As leak_suites.py, which asks `plumb run`: Valgrind's tests (memcheck/tests/leak*.c) are
compared with memcheck's definite plus indirect, LeakSanitizer's
(compiler-rt/test/lsan/TestCases) with what the same source loses when it is built with
-fsanitize=leak at the same level, with calls of malloc kept where they are. Ours is built in
`full`, at -O0 and -O2, from the same source.

usage: compiled_suites.py PLUMB [--work=DIR] [--only=valgrind|lsan] [--match=REGEX]
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import agreement
from leak_suites import LSAN_SUMMARY, show, unpack

LEVELS = ["-O0", "-O2"]
# Without these the optimiser deletes blocks that nobody uses, lost or not; `plumb cc` has them.
KEPT = [f"-fno-builtin-{name}" for name in ("malloc", "calloc", "realloc", "free")]
TIMEOUT = 300  # seconds: some tests scan a hundred times
CXX = {".c": "cc", ".cc": "c++", ".cpp": "c++"}


class Suite:
    def __init__(self, plumb: str, folder: Path, name: str, peer: str):
        self.plumb, self.folder = plumb, folder
        self.equal = self.total = 0
        print(f"\n| {name} | {peer} (blocks / bytes) | " + " | ".join(
            f"plumb cc {level}" for level in LEVELS) + " | equal |\n" + "|---" * (3 + len(LEVELS)) + "|")

    def lost_in(self, source: Path, level: str, flags: list[str], arguments: list[str]):
        program, reports = self.folder / "ours", self.folder / "reports"
        shutil.rmtree(reports, ignore_errors=True)
        reports.mkdir()
        if subprocess.run([self.plumb, CXX[source.suffix], "-w", "-g", level, str(source), "-o", str(program), *flags],
                          capture_output=True).returncode != 0:
            return "does not compile"
        try:
            subprocess.run([str(program), *arguments], capture_output=True, stdin=subprocess.DEVNULL, timeout=TIMEOUT,
                           env={**os.environ, "PLUMB_OPTIONS": f"output={reports}/%p.json"})
        except subprocess.TimeoutExpired:
            return "took too long"
        # Children report by themselves.
        found = [json.loads(path.read_text())["leaks"] for path in reports.glob("*.json")]
        # LeakSanitizer counts what is suppressed by the program itself apart.
        lost = [leak for leaks in found for leak in leaks
                if leak["kind"] == "lost" and "suppressed" not in leak]
        return tuple(sum(leak[what] + leak.get("indirect", {}).get(what, 0) for leak in lost)
                     for what in ("blocks", "bytes"))

    def compare(self, name: str, theirs: list[tuple[int, int]], source: Path, flags: list[str], arguments: list[str]) -> None:
        ours = [self.lost_in(source, level, flags, arguments) for level in LEVELS]
        same = ours == theirs
        cells = [pair if isinstance(pair, str) else show(pair) for pair in ours]
        expected = " and ".join(dict.fromkeys(map(show, theirs)))
        print(f"| {name} | {expected} | " + " | ".join(cells) + f" | {'yes' if same else '**no**'} |", flush=True)
        self.total += 1
        self.equal += same

    def end(self) -> bool:
        print(f"\nEqual in {self.equal} of {self.total}.")
        return self.equal == self.total


def vgtest_arguments(source: Path) -> list[list[str]]:
    """A test with arguments has a .vgtest for each."""
    found = set()
    for vgtest in source.parent.glob(f"{source.stem}*.vgtest"):
        for line in vgtest.read_text().splitlines():
            if line.startswith("args:"):
                found.add(tuple(line.removeprefix("args:").split()))
    return [list(words) for words in sorted(found)] or [[]]


def valgrind_tests(plumb: str, folder: Path) -> bool:
    root = unpack("valgrind", folder, ["*/memcheck/tests/leak*", "*/memcheck/*.h", "*/include/valgrind.h"])
    suite = Suite(plumb, folder, "Valgrind's test", "memcheck")
    flags = [f"-I{root}/include", f"-I{root}/memcheck"]
    tests = root / "memcheck" / "tests"
    for source in sorted([*tests.glob("leak*.c"), *tests.glob("leak*.cpp")]):
        # Blocks of the test's own pools, which it tells memcheck about.
        if "VALGRIND_CREATE_MEMPOOL" in source.read_text():
            continue
        program = folder / "theirs"
        compiler = "g++" if source.suffix == ".cpp" else "gcc"
        if subprocess.run([compiler, "-w", "-O0", "-g", *flags, str(source), "-o", str(program)],
                          capture_output=True).returncode != 0:
            continue
        for arguments in vgtest_arguments(source):
            words = agreement.memcheck([str(program), *arguments])
            theirs = tuple(a + b for a, b in zip(words["definitely"], words["indirectly"]))
            suite.compare(" ".join([source.name, *arguments]), [theirs] * len(LEVELS), source, flags, arguments)
    return suite.end()


def with_lsan(source: Path, program: Path, level: str, flags: list[str]) -> tuple[int, int] | None:
    """What the test loses at this level; the optimiser may leave out a store that nobody reads."""
    compiler = "clang-19" if source.suffix == ".c" else "clang++-19"
    if subprocess.run([compiler, "-w", level, "-g", "-fsanitize=leak", *KEPT, str(source), "-o", str(program),
                       *flags],
                      capture_output=True).returncode != 0:
        return None
    try:
        done = subprocess.run([str(program)], capture_output=True, text=True, errors="replace", timeout=TIMEOUT,
                              stdin=subprocess.DEVNULL, env={**os.environ, "LSAN_OPTIONS": "detect_leaks=1"})
    except subprocess.TimeoutExpired:
        return None
    found = LSAN_SUMMARY.findall(done.stderr)
    return (int(found[-1][1]), int(found[-1][0])) if found else (0, 0)


def lsan_tests(plumb: str, folder: Path, match: str) -> bool:
    root = unpack("llvm-toolchain-19", folder, ["*/compiler-rt/test/lsan/*", "*/compiler-rt/test/sanitizer_common/*.h"])
    suite = Suite(plumb, folder, "LeakSanitizer's test", "LeakSanitizer")
    cases = root / "compiler-rt/test/lsan/TestCases"
    flags = ["-pthread", f"-I{root}/compiler-rt/test", "-ldl"]
    for source in sorted([*cases.glob("*.c"), *cases.glob("*.cpp"), *cases.glob("Linux/*.c*"), *cases.glob("Posix/*.c*")]):
        if not re.search(match, str(source.relative_to(cases))):
            continue
        theirs = [with_lsan(source, folder / "theirs", level, flags) for level in LEVELS]
        if None not in theirs:
            suite.compare(str(source.relative_to(cases)), theirs, source, flags, [])
    return suite.end()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("plumb")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--only", choices=["valgrind", "lsan"])
    parser.add_argument("--match", default="", help="of LeakSanitizer's tests, those with such a name")
    given = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = (given.work or Path(name)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        if given.only != "lsan":
            good = valgrind_tests(given.plumb, folder) and good
        if given.only != "valgrind":
            good = lsan_tests(given.plumb, folder, given.match) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
