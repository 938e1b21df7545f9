#!/usr/bin/env python3
"""What `plumb run` costs beside other tools: CPU time as a ratio to native.

Runs are interleaved, the best of the rounds counts, and all tools see the same
command. Peers that are not installed are left out.

usage: overhead.py PLUMB [--rounds=N] [--only=PROGRAM,...] [--tools=TOOL,...]
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

import measure
import subjects

PROGRAMS = ["perl", "python3", "sqlite3", "sort", "awk", "git", "objdump", "cmake"]

LOOP = """
#include <stdlib.h>
int main(void) {
  void *live[64] = {0};
  for (unsigned i = 0; i < 20000000; i++) {
    free(live[i % 64]);
    live[i % 64] = malloc(16 + i % 97);
  }
  for (int i = 0; i < 64; i++) free(live[i]);
}
"""


def tools(plumb: str, folder: Path) -> dict[str, list[str]]:
    found = {
        "native": [],
        "plumb run --no-rerun": [plumb, "run", "--no-rerun", f"--output={folder}/r", "--"],
        "--stacks=1": [plumb, "run", "--no-rerun", "--stacks=1", f"--output={folder}/r", "--"],
        "plumb run": [plumb, "run", f"--output={folder}/r", "--"],
        "plumb run --once": [plumb, "run", "--once", f"--output={folder}/r", "--"],
        "valgrind --tool=none": ["valgrind", "-q", "--tool=none"],
        "heaptrack": ["heaptrack", "--record-only", "-o", str(folder / "heaptrack")],
        "memcheck": ["valgrind", "-q", "--leak-check=full"],
    }
    return {name: prefix for name, prefix in found.items() if not prefix or shutil.which(prefix[0])}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("plumb")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only")
    parser.add_argument("--tools")
    given = parser.parse_args()
    plumb = str(Path(given.plumb).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commands = {k: v for k, v in subjects.subjects(folder).items() if k in PROGRAMS}
        (folder / "loop.c").write_text(LOOP)
        if measure.run(["cc", "-O1", "-fno-builtin", "-o", str(folder / "loop"), str(folder / "loop.c")]).status == 0:
            commands["malloc loop"] = [str(folder / "loop")]
        names = tools(plumb, folder)
        if given.only:
            commands = {k: v for k, v in commands.items() if k in given.only.split(",")}
        if given.tools:
            names = {k: v for k, v in names.items() if k == "native" or k in given.tools.split(",")}
        print("\n| program | native, s | " + " | ".join(n for n in names if n != "native") + " |")
        print("|---|---|" + "---|" * (len(names) - 1))
        ratios: dict[str, list[float]] = {n: [] for n in names}
        for program, command in commands.items():
            best = {n: float("inf") for n in names}
            for _ in range(given.rounds):
                for tool, prefix in names.items():
                    best[tool] = min(best[tool], measure.run([*prefix, *command]).cpu)
            row = {n: best[n] / best["native"] for n in names}
            if program != "malloc loop":
                for n in names:
                    ratios[n].append(row[n])
            print(f"| {program} | {best['native']:.2f} | " + " | ".join(f"{row[n]:.2f}x" for n in names if n != "native") + " |", flush=True)
        if not ratios["native"]:
            return 0
        means = " | ".join(f"{measure.geometric_mean(ratios[n]):.2f}x" for n in names if n != "native")
        print(f"| geometric mean without the loop | | {means} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
