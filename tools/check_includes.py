#!/usr/bin/env python3
"""Compares each #include with the link list of its folder.

A folder of src/ is a CMake target whose DEPS (cmake/PlumbTarget.cmake) are the
folders that it may include. Code inside the user's process (runtime/) and what clang loads for it (plugin/)
sees nothing of src/ but the record format; LLVM and the SMT solver are each
seen by one folder only.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
LIBRARY = re.compile(r"plumb_(?:library|plugin)\(\s*([\w/]+)([^)]*)\)", re.S)
KEYWORDS = {"DEPS", "LIBS", "TEST_LIBS", "SOURCES"}
SOURCES = ("*.h", "*.cc", "*.c", "*.S")

# prefix of an included header -> folders that may include it
RESERVED = {
    "llvm/": ("src/check/lower", "plugin"),
    "llvm-c/": ("src/check/lower", "plugin"),
    "clang/": ("src/check/lower", "plugin"),
    "z3": ("src/check/prove",),
    "elfutils/": ("src/trace",),
    "dwarf.h": ("src/trace",),
    "CLI/": ("src/driver",),
}
# Outside src/: which headers of src/ they may include.
OUTSIDE = {"runtime": {"trace/record.h", "trace/watch_record.h"}, "plugin": {"trace/record.h"}}


def read_dependencies() -> dict[str, set[str]]:
    """Folder (below src/) -> folders it links, directly."""
    direct: dict[str, set[str]] = {}
    for cmake in SRC.rglob("CMakeLists.txt"):
        for name, rest in LIBRARY.findall(cmake.read_text()):
            words, inside = rest.split(), ""
            deps = set()
            for word in words:
                if word in KEYWORDS:
                    inside = word
                elif inside == "DEPS":
                    deps.add(word)
            direct[name] = deps
    return direct


def closure(direct: dict[str, set[str]], folder: str) -> set[str]:
    seen, work = {folder}, [folder]
    while work:
        for dep in direct.get(work.pop(), set()):
            if dep not in seen:
                seen.add(dep)
                work.append(dep)
    return seen


def includes_of(path: Path):
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(2)


def files_below(folder: Path):
    """Sources of ours; what lies in testdata/ is material for tests."""
    for pattern in SOURCES:
        yield from (path for path in sorted(folder.rglob(pattern)) if "testdata" not in path.parts)


def check_cycles(direct: dict[str, set[str]]) -> list[str]:
    return [
        f"src/{folder}: links itself through {', '.join(sorted(direct[folder]))}"
        for folder in direct
        if any(folder in closure(direct, dep) for dep in direct[folder])
    ]


def check_src(direct: dict[str, set[str]]) -> list[str]:
    problems = []
    for path in files_below(SRC):
        folder = path.parent.relative_to(SRC).as_posix()
        if folder not in direct:
            problems.append(f"{path.relative_to(ROOT)}: no plumb_library or plumb_plugin for folder {folder}")
            continue
        allowed = closure(direct, folder)
        for number, header in includes_of(path):
            target = Path(header).parent.as_posix().split("/testdata")[0]
            if (SRC / header).exists() and target not in allowed:
                problems.append(
                    f"{path.relative_to(ROOT)}:{number}: src/{folder} must not include {header}"
                    f" (it links: {', '.join(sorted(allowed - {folder})) or 'nothing'})"
                )
    return problems


def check_reserved() -> list[str]:
    problems = []
    for top in ("src", "runtime", "plugin"):
        for path in files_below(ROOT / top):
            where = path.parent.relative_to(ROOT).as_posix()
            for number, header in includes_of(path):
                for prefix, folders in RESERVED.items():
                    if header.startswith(prefix) and not where.startswith(folders):
                        problems.append(
                            f"{path.relative_to(ROOT)}:{number}: {header} is only for {' and '.join(folders)}"
                        )
                if top in OUTSIDE and (SRC / header).exists() and header not in OUTSIDE[top]:
                    problems.append(f"{path.relative_to(ROOT)}:{number}: {top}/ must not include {header}")
    return problems


def main() -> int:
    direct = read_dependencies()
    problems = check_cycles(direct) + check_src(direct) + check_reserved()
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"includes: {len(problems)} wrong, {len(direct)} folders", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
