#!/usr/bin/env python3
"""Leaks put into real programs: is every one of them found, and nothing else?

`plumb run --drop-frees=10:7` skips 10% of each program's frees. What is lost without
that is lost with it as well; all else that is reported as lost must be a block whose
free was skipped, or be held by one only. Which skipped blocks nothing refers to is
decided by memcheck, which sees the same frees skipped by the same library.

usage: dropped.py PLUMB [--only=PROGRAM,...]
"""

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path

import agreement
import measure
import subjects

PROGRAMS = ["sqlite3", "grep", "sed", "tar", "find", "diff", "objdump", "jq", "xmllint", "msgfmt", "bc", "nm"]
NOTE = re.compile(r"(\d[\d,]*) frees? w\w+ skipped .*: (\d[\d,]*) of those blocks are lost, (\d[\d,]*) still")


def scanned(plumb: str, command: list[str], output: Path, env: dict[str, str], *options: str) -> dict:
    measure.run([plumb, "run", "--no-rerun", "--no-forgotten", "--format=json", f"--output={output}", *options, "--", *command], env)
    return json.loads(output.read_text())


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("plumb")
    parser.add_argument("--only")
    given = parser.parse_args()
    library = Path(given.plumb).resolve().parent.parent / "lib/plumb/libplumb_drop.so"
    env = agreement.added_variables()
    equal = total = 0
    print("\n| program | frees skipped | of these lost | still referred to | lost before | lost now | memcheck | equal |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for program, command in subjects.subjects(folder).items():
            if program not in (given.only.split(",") if given.only else PROGRAMS):
                continue
            before = scanned(given.plumb, command, folder / "r.json", env)["totals"]["lost"]["blocks"]
            report = scanned(given.plumb, command, folder / "r.json", env, "--drop-frees=10:7")
            text = next((note["text"] for note in report["notes"] if "skipped" in note["text"]), "")
            found = NOTE.search(text)
            if not found:
                sys.exit(f"dropped: {program}: no word about skipped frees in the report")
            numbers = [int(n.replace(",", "")) for n in found.groups()]
            now = report["totals"]["lost"]["blocks"]
            inner = ["env", f"LD_PRELOAD={library}", f"PLUMB_DROP_FREES=percent=10:seed=7:output={folder}/drops.txt", *command]
            # The program itself is what `env` becomes.
            words = agreement.memcheck(["--trace-children=yes", "--soname-synonyms=somalloc=nouserintercepts", *inner])
            theirs = words["definitely"][0] + words["indirectly"][0]
            total += 1
            equal += now == theirs
            print(f"| {program} | {numbers[0]:,} | {numbers[1]:,} | {numbers[2]:,} | {before:,} | {now:,} | {theirs:,} | "
                  f"{'yes' if now == theirs else '**no**'} |", flush=True)
    print(f"\nEqual in {equal} of {total} programs.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
