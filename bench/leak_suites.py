#!/usr/bin/env python3
"""Do the leak tests of Valgrind and of LeakSanitizer lose the same blocks here?

The sources come from Debian (apt-get source, by name); only the folders with the tests
are unpacked. Valgrind's (memcheck/tests/leak*.c) are compared with memcheck's
definite plus indirect at the end of the same binary, LeakSanitizer's
(compiler-rt/test/lsan/TestCases) with what the same source loses when it is built with
-fsanitize=leak. Tests that need the other tool's own interface are listed as such.

usage: leak_suites.py PLUMB [--work=DIR] [--only=valgrind|lsan]
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import agreement
import packages

LSAN_SUMMARY = re.compile(r"SUMMARY: \w+Sanitizer: (\d+) byte\(s\) leaked in (\d+) allocation")


def unpack(name: str, folder: Path, patterns: list[str]) -> Path:
    archives = [p for p in folder.glob(f"{name}_*.orig.tar.*") if not p.name.endswith(".asc")]
    if not archives:
        conf = packages.archives(folder)
        subprocess.run(["apt-get", "-c", str(conf), "-q", "source", "--download-only", name], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
        archives = [p for p in folder.glob(f"{name}_*.orig.tar.*") if not p.name.endswith(".asc")]
    found = [p for p in folder.glob(f"{name}[-_]*") if p.is_dir()]
    if not found:
        subprocess.run(["tar", "-xf", str(archives[0]), "--wildcards", *patterns], cwd=folder, check=True)
        found = [p for p in folder.glob(f"{name}[-_]*") if p.is_dir()]
    return found[0]


def lost_here(plumb: str, command: list[str], output: Path) -> tuple[int, int] | None:
    output.unlink(missing_ok=True)
    subprocess.run([plumb, "run", "--no-rerun", "--format=json", f"--output={output}", "--", *command],
                   stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    if not output.exists():
        return None
    lost = json.loads(output.read_text())["totals"]["lost"]
    return lost["blocks"], lost["bytes"]


def show(pair: tuple[int, int] | None) -> str:
    return "-" if pair is None else f"{pair[0]:,} / {pair[1]:,}"


def row(name: str, theirs, ours) -> bool:
    same = theirs == ours
    print(f"| {name} | {show(theirs)} | {show(ours)} | {'yes' if same else '**no**'} |", flush=True)
    return same


def valgrind_tests(plumb: str, folder: Path) -> None:
    root = unpack("valgrind", folder, ["*/memcheck/tests/leak*", "*/memcheck/*.h", "*/include/valgrind.h"])
    print("\n| Valgrind's test | memcheck (blocks / bytes) | plumb run | equal |\n|---|---|---|---|")
    equal = total = 0
    tests = root / "memcheck" / "tests"
    commands: list[tuple[str, Path, list[str]]] = []
    needs: list[str] = []
    for source in sorted([*tests.glob("leak*.c"), *tests.glob("leak*.cpp")]):
        # Blocks of the test's own pools, which it tells memcheck about.
        if "VALGRIND_CREATE_MEMPOOL" in source.read_text():
            needs.append(source.name)
            continue
        # A test with arguments has a .vgtest for each.
        arguments = {()}
        for vgtest in tests.glob(f"{source.stem}*.vgtest"):
            words = re.search(r"^args:\s*(.*)$", vgtest.read_text(), re.MULTILINE)
            if words:
                arguments.add(tuple(words.group(1).split()))
        if len(arguments) > 1:
            arguments.discard(())
        commands += [(" ".join([source.name, *a]), source, list(a)) for a in sorted(arguments)]
    for name, source, arguments in commands:
        program = folder / "test"
        compiler = "g++" if source.suffix == ".cpp" else "gcc"
        built = subprocess.run([compiler, "-w", "-O0", "-g", f"-I{root}/include", f"-I{root}/memcheck", str(source), "-o", str(program)],
                               capture_output=True)
        if built.returncode != 0:
            print(f"| {name} | does not compile here | | |")
            continue
        words = agreement.memcheck([str(program), *arguments])
        theirs = tuple(a + b for a, b in zip(words["definitely"], words["indirectly"]))
        total += 1
        equal += row(name, theirs, lost_here(plumb, [str(program), *arguments], folder / "r.json"))
    print(f"\nEqual in {equal} of {total}; {', '.join(needs)} describe pools by memcheck's own requests.")


def lsan_tests(plumb: str, folder: Path) -> None:
    root = unpack("llvm-toolchain-19", folder, ["*/compiler-rt/test/lsan/*", "*/compiler-rt/test/sanitizer_common/*.h"])
    print("\n| LeakSanitizer's test | LeakSanitizer (blocks / bytes) | plumb run | equal |\n|---|---|---|---|")
    equal = total = 0
    needs: list[str] = []
    cases = root / "compiler-rt/test/lsan/TestCases"
    for source in sorted([*cases.glob("*.c"), *cases.glob("*.cpp"), *cases.glob("Linux/*.c*"), *cases.glob("Posix/*.c*")]):
        compiler = "clang-19" if source.suffix == ".c" else "clang++-19"
        flags = ["-w", "-O0", "-g", "-gdwarf-4", "-pthread", f"-I{root}/compiler-rt/test", "-ldl"]
        plain, checked = folder / "plain", folder / "checked"
        if subprocess.run([compiler, "-fsanitize=leak", str(source), "-o", str(checked), *flags], capture_output=True).returncode != 0:
            continue
        if subprocess.run([compiler, str(source), "-o", str(plain), *flags], capture_output=True).returncode != 0:
            needs.append(source.name)
            continue
        try:
            done = subprocess.run([str(checked)], capture_output=True, text=True, errors="replace", timeout=120, stdin=subprocess.DEVNULL,
                                  env={**os.environ, "LSAN_OPTIONS": "detect_leaks=1"})
            found = LSAN_SUMMARY.findall(done.stderr)
            theirs = (int(found[-1][1]), int(found[-1][0])) if found else (0, 0)
            ours = lost_here(plumb, [str(plain)], folder / "r.json")
        except subprocess.TimeoutExpired:
            print(f"| {source.name} | took too long | | |")
            continue
        total += 1
        equal += row(source.name, theirs, ours)
    print(f"\nEqual in {equal} of {total}; {len(needs)} more use LeakSanitizer's own interface.")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("plumb")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--only", choices=["valgrind", "lsan"])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = (given.work or Path(name)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        if given.only != "lsan":
            valgrind_tests(given.plumb, folder)
        if given.only != "valgrind":
            lsan_tests(given.plumb, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
