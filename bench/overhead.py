#!/usr/bin/env python3
"""What `plumb run` costs beside other tools: CPU time as a ratio to native.

Runs are interleaved, the best of the rounds counts, and all tools see the same
command. Peers that are not installed are left out. Two tables: the first run, on
programs that work for two seconds and more; and what happens under Valgrind, on the
same programs with less to do. There, frees are dropped so that something is lost and
the program is run again.

With --long, the second table is of the long programs, too: memcheck takes a minute or
two for each. What the second run alone takes is both runs less the first.

usage: overhead.py PLUMB [--part=first|again] [--long] [--rounds=N] [--only=PROGRAM,...] [--tools=TOOL,...]
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

import long_subjects
import measure
import subjects

SHORT = ["perl", "sqlite3", "git", "python3", "awk", "jq"]

LOOP = """
#include <stdlib.h>
int main(void) {
  void *live[64] = {0};
  for (unsigned i = 0; i < 80000000; i++) {
    free(live[i % 64]);
    live[i % 64] = malloc(16 + i % 97);
  }
  for (int i = 0; i < 64; i++) free(live[i]);
}
"""


FIRST = "plumb run --no-rerun"
TWICE = "plumb run twice"
MEMCHECK = "memcheck"


def second_of_memcheck(row: dict[str, float]) -> float | None:
    """What the second run takes of memcheck's time, if all three were measured and there was
    one: where nothing was lost there is none."""
    if not {FIRST, TWICE, MEMCHECK} <= row.keys() or row[TWICE] < 1.2 * row[FIRST]:
        return None
    return (row[TWICE] - row[FIRST]) / row[MEMCHECK]


def tools(plumb: str, folder: Path, part: str) -> dict[str, list[str]]:
    def run(*options: str) -> list[str]:
        return [plumb, "run", f"--output={folder}/r", *options, "--"]

    found: dict[str, list[str]] = {"native": []}
    if part == "first":
        found |= {
            FIRST: run("--no-rerun", "--no-forgotten"),
            "--stacks=1": run("--no-rerun", "--no-forgotten", "--stacks=1"),
            "heaptrack": ["heaptrack", "--raw", "-o", str(folder / "heaptrack")],
        }
    else:
        found |= {
            FIRST: run("--drop-frees=1:7", "--no-rerun"),
            TWICE: run("--drop-frees=1:7"),
            "twice with --last-use": run("--drop-frees=1:7", "--last-use"),
            "plumb run --once": run("--once"),
            "valgrind --tool=none": ["valgrind", "-q", "--tool=none"],
            MEMCHECK: ["valgrind", "-q", "--leak-check=full"],
        }
    return {name: prefix for name, prefix in found.items() if not prefix or shutil.which(prefix[0])}


def table(commands: dict[str, list[str]], names: dict[str, list[str]], rounds: int) -> None:
    print("\n| program | native, s | " + " | ".join(n for n in names if n != "native") + " |")
    print("|---|---|" + "---|" * (len(names) - 1))
    ratios: dict[str, list[float]] = {n: [] for n in names}
    seconds: list[float] = []
    for program, command in commands.items():
        best = {n: float("inf") for n in names}
        status = None  # native's: a tool that fails would be the quickest
        for _ in range(rounds):
            for tool, prefix in names.items():
                done = measure.run([*prefix, *command])
                status = done.status if status is None else status
                if done.status != status:
                    sys.exit(f"bench: {program} ends with {done.status} under {tool}, else with {status}: "
                             f"{done.stderr.decode(errors='replace')[-300:]}")
                best[tool] = min(best[tool], done.cpu)
        row = {n: best[n] / best["native"] for n in names}
        if program != "malloc loop":
            for n in names:
                ratios[n].append(row[n])
        print(f"| {program} | {best['native']:.2f} | " + " | ".join(f"{row[n]:.2f}x" for n in names if n != "native") + " |", flush=True)
        if second := second_of_memcheck(row):
            seconds.append(second)
            print(f"  (second run alone: {second:.2f} of memcheck)", file=sys.stderr, flush=True)
    if seconds:
        print(f"| second run alone, of memcheck | | {measure.geometric_mean(seconds):.2f} | " + " | ".join("" for _ in range(len(names) - 2)) + " |")
    if ratios["native"]:
        means = " | ".join(f"{measure.geometric_mean(ratios[n]):.2f}x" for n in names if n != "native")
        print(f"| geometric mean without the loop | | {means} |", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("plumb")
    parser.add_argument("--part", choices=["first", "again"])
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only")
    parser.add_argument("--tools")
    given = parser.parse_args()
    plumb = str(Path(given.plumb).resolve())
    for part in [given.part] if given.part else ["first", "again"]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if given.long and part == "again":
                commands = long_subjects.long_subjects(folder)
            elif part == "first":
                commands = long_subjects.long_subjects(folder)
                (folder / "loop.c").write_text(LOOP)
                if measure.run(["cc", "-O1", "-fno-builtin", "-o", str(folder / "loop"), str(folder / "loop.c")]).status == 0:
                    commands["malloc loop"] = [str(folder / "loop")]
            else:
                commands = {k: v for k, v in subjects.subjects(folder).items() if k in SHORT}
            names = tools(plumb, folder, part)
            if given.only:
                commands = {k: v for k, v in commands.items() if k in given.only.split(",")}
            if given.tools:
                names = {k: v for k, v in names.items() if k == "native" or k in given.tools.split(",")}
            table(commands, names, given.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
