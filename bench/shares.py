#!/usr/bin/env python3
"""How much of a program's CPU time is spent in our library, by a sampling profile.

shares.py PLUMB [--only=run,watch] [--programs=NAME,...]

Machines that others share resolve no ratio of two runs below a few percent. A profile
of one run does: which share of its samples is in the preloaded library of `plumb run`
or `plumb watch` (and in the threads that it has started). What the library costs beyond
its own code, such as misses in caches and pages of its tables, is not in it: a share is
a lower bound, the ratios of `overhead` and `sampled` are the whole.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import long_subjects
import measure
import sampled

FREQUENCY = 3000
LIBRARIES = {"run": "libplumb_preload.so", "watch": "libplumb_watch.so"}
THREADS = {"plumb-watch"}


def share_of(command: list[str], env: dict[str, str], library: str, folder: Path) -> float:
    """Samples in the library, or in its threads, over all samples of the command."""
    data = str(folder / "perf.data")
    recorded = ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(FREQUENCY), "-o", data,
                "env", *(f"{name}={value}" for name, value in env.items()), *command]
    subprocess.run(recorded, capture_output=True, check=False)
    report = subprocess.run(["perf", "report", "-i", data, "--stdio", "--no-children",
                             "--percentage", "absolute", "--sort", "comm,dso", "-F", "sample,comm,dso"],
                            capture_output=True, text=True, check=True).stdout
    ours = total = 0
    for line in report.splitlines():
        if not (row := re.match(r"\s*(\d+)\s+(\S+)\s+(\S+)", line)):
            continue
        count, thread, module = int(row[1]), row[2], row[3]
        total += count
        if module == library or thread in THREADS:
            ours += count
    if total == 0:
        sys.exit(f"bench: no profile of {command[0]}")
    return ours / total


def run_command(plumb: Path, folder: Path, command: list[str]) -> list[str]:
    return [str(plumb), "run", "--no-rerun", "--no-forgotten", f"--output={folder}/r", "--", *command]


def main() -> int:
    plumb = Path(sys.argv[1]).resolve()
    options = dict(word.removeprefix("--").partition("=")[::2] for word in sys.argv[2:])
    if not shutil.which("perf"):
        print("\nNo perf here (Debian: linux-perf): shares were not measured.")
        return 0
    wanted = options.get("only", "run,watch").split(",")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in wanted:
            env = sampled.environments(plumb, folder)[sampled.WATCH] if part == "watch" else {}
            commands = sampled.programs(folder, long=True) if part == "watch" \
                else long_subjects.long_subjects(folder)
            print(f"\n| program under `plumb {part}` | share of its CPU time in the library |\n|---|---|")
            shares = []
            for program, command in commands.items():
                if "programs" in options and program not in options["programs"].split(","):
                    continue
                whole = command if part == "watch" else run_command(plumb, folder, command)
                shares.append(share_of(whole, env, LIBRARIES[part], folder))
                print(f"| {program} | {shares[-1]:.1%} |", flush=True)
            mean = measure.geometric_mean([1 / (1 - share) for share in shares])
            print(f"| as a ratio to the rest, geometric mean | {mean:.3f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
