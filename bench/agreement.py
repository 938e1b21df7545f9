#!/usr/bin/env python3
"""Does `plumb run` see the blocks that memcheck sees, on real programs?

Lost is memcheck's definite plus indirect, forgotten its reachable plus
possible. Memcheck runs without freeing libc's own blocks, as we do. Valgrind adds
variables to the program's environment, which some programs copy: ours gets as many,
of the same lengths under other names.

usage: agreement.py PLUMB [PROGRAM,...]
"""

import argparse
import json
import os
import re
import sys
import tempfile
from pathlib import Path

import measure
import subjects

MEMCHECK = ["valgrind", "--leak-check=full", "--run-libc-freeres=no", "--run-cxx-freeres=no"]
LINE = re.compile(rb"(definitely|indirectly|possibly) lost: ([\d,]+) bytes in ([\d,]+) blocks"
                  rb"|still (reachable): ([\d,]+) bytes in ([\d,]+) blocks")


def number(text: bytes) -> int:
    return int(text.replace(b",", b""))


def memcheck(command: list[str]) -> dict[str, tuple[int, int]]:
    """Word -> (blocks, bytes)."""
    done = measure.run([*MEMCHECK, *command])
    found = {"definitely": (0, 0), "indirectly": (0, 0), "possibly": (0, 0), "reachable": (0, 0)}
    # Children of a fork have a summary of their own, with their number before it.
    own = re.match(rb"==\d+== ", done.stderr)
    text = b"\n".join(line for line in done.stderr.splitlines() if own and line.startswith(own[0]))
    for lost, size, blocks, reach, reach_size, reach_blocks in LINE.findall(text):
        word = (lost or reach).decode()
        found[word] = (number(blocks or reach_blocks), number(size or reach_size))
    return found


def added_variables() -> dict[str, str]:
    """What Valgrind adds, with another first letter."""
    lines = measure.run(["valgrind", "-q", "env"]).stdout.decode(errors="replace").splitlines()
    variables = dict(line.split("=", 1) for line in lines if "=" in line)
    return {"X" + name[1:]: value for name, value in variables.items() if name not in os.environ}


def plumb_run(plumb: str, command: list[str], output: Path, env: dict[str, str] | None = None) -> dict:
    measure.run([plumb, "run", "--no-rerun", "--format=json", f"--output={output}", "--", *command], env)
    return json.loads(output.read_text())["totals"]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("plumb")
    parser.add_argument("--only", help="a few of them, by name")
    given = parser.parse_args()
    plumb = given.plumb
    equal = 0
    # Perl's tables are of other sizes from run to run otherwise.
    os.environ |= {"PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0"}
    env = added_variables()
    print("\n| program | lost, memcheck (blocks / bytes) | lost, plumb run | forgotten, memcheck | forgotten, plumb run | lost equal |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        programs = subjects.subjects(Path(folder))
        if given.only:
            programs = {name: programs[name] for name in given.only.split(",")}
        for name, command in programs.items():
            theirs = memcheck(command)
            ours = plumb_run(plumb, command, Path(folder) / "report.json", env)
            lost = tuple(a + b for a, b in zip(theirs["definitely"], theirs["indirectly"]))
            kept = tuple(a + b for a, b in zip(theirs["possibly"], theirs["reachable"]))
            our_lost = (ours["lost"]["blocks"], ours["lost"]["bytes"])
            our_kept = (ours["forgotten"]["blocks"], ours["forgotten"]["bytes"])
            same = lost == our_lost
            equal += same
            show = lambda pair: f"{pair[0]:,} / {pair[1]:,}"
            print(f"| {name} | {show(lost)} | {show(our_lost)} | {show(kept)} | {show(our_kept)} | {'yes' if same else '**no**'} |", flush=True)
    print(f"\nLost blocks and bytes equal in {equal} of {len(programs)} programs.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
