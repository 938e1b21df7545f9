#!/usr/bin/env python3
"""What `plumb cc -fplumb=sampled` costs: the checks alone, and the whole of it.

bursts.py PLUMB [--only=NAME,...] [--seconds=N] [--rounds=N] [--table] [--fresh]

The programs are bench/compiled/*, at -O2 by clang 19. CPU time over native in
interleaved rounds with 95% intervals: built so but not watched (the checks), and
watched with checks that fall to 0.1% and to 0.01%; peak memory likewise. Each round
has another layout of the code (functions in another order), since that alone moves
results by 4%. Then how much the code grew, the hot part and the cold one.

Appends to build/bench/bursts.jsonl, from which the table is printed: rounds of
several runs add up.
"""

import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import measure
import sampled
from record import Ratio, Record, rounds

HERE = Path(__file__).resolve().parent
MOST_ROUNDS = 15
SECONDS = 400
LAYOUTS = 5
RECORD = Record("bursts")


def build(command: list[str], source: Path, out: Path, layout: int) -> None:
    """With lld the sections of the functions lie in the order of `layout`."""
    shuffled = ["-ffunction-sections", "-fuse-ld=lld", f"-Wl,--shuffle-sections=*={layout + 1}"]
    subprocess.run([*command, "-O2", "-g", *(shuffled if shutil.which("ld.lld-19") else []),
                    str(source), "-o", str(out)], check=True)


def code_size(binary: Path) -> tuple[int, int]:
    """Hot and cold bytes: the tracing versions have symbols of their own."""
    text = subprocess.run(["nm", "--print-size", str(binary)], capture_output=True, text=True,
                          check=True).stdout
    hot = cold = 0
    for line in text.splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tTwW":
            if words[3].endswith(".plumb_traced"):
                cold += int(words[1], 16)
            else:
                hot += int(words[1], 16)
    return hot, cold


def sources(wanted: str) -> dict[str, Path]:
    names = wanted.split(",") if wanted else []
    return {source.stem: source for source in sorted((HERE / "compiled").iterdir())
            if not names or source.stem in names}


def measure_all(plumb: str, folder: Path, wanted: str, most: tuple[float, int]) -> None:
    watched = sampled.environments(Path(plumb), folder)[sampled.WATCH]
    tools = {
        "checks": {},
        "least=0.1%": {**watched, "PLUMB_OPTIONS": "least=0.1%"},
        "least=0.01%": {**watched, "PLUMB_OPTIONS": "least=0.01%"},
    }
    first = max([row["round"] + 1 for row in RECORD.rows("run")], default=0)
    for number in rounds(*most):
        layout = (first + number) % LAYOUTS
        for program, source in sources(wanted).items():
            native, traced = (folder / f"{program}-{layout}-{kind}" for kind in ("native", "sampled"))
            cxx = source.suffix == ".cc"
            if not traced.exists():
                build(["clang++-19" if cxx else "clang-19"], source, native, layout)
                build([plumb, "c++" if cxx else "cc", "-fplumb=sampled"], source, traced, layout)
                if number == 0:
                    before, _ = code_size(native)
                    hot, cold = code_size(traced)
                    RECORD.add("size", program=program, hot=hot / before, cold=cold / before)
            base = sampled.run_once([str(native)], {})
            for tool in sampled.in_turn(tools, number):
                run = sampled.run_once([str(traced)], tools[tool])
                if run.output != base.output:
                    sys.exit(f"bench: {program} behaves differently with {tool}")
                RECORD.add("run", round=first + number, program=program, tool=tool,
                           time=run.cpu / base.cpu, memory=run.peak_kb / base.peak_kb)


def print_table() -> None:
    rows = RECORD.rows("run")
    if not rows:
        return
    tools = list(dict.fromkeys(row["tool"] for row in rows))
    names = list(dict.fromkeys(row["program"] for row in rows))
    sizes = {row["program"]: row for row in RECORD.rows("size")}

    def values(program: str, tool: str, field: str) -> list[float]:
        return [row[field] for row in rows if row["program"] == program and row["tool"] == tool]

    made = min(len(values(program, tools[0], "time")) for program in names)
    print(f"\n{made} rounds, CPU time over native, with 95% intervals\n")
    tools.sort()
    print("| program | " + " | ".join(tools) + " | memory, 0.1% | hot code | cold code |")
    print("|---|" + "---|" * (len(tools) + 3))
    for program in names:
        print(f"| {program} | "
              + " | ".join(str(Ratio(values(program, tool, "time"))) for tool in tools)
              + f" | {statistics.median(values(program, 'least=0.1%', 'memory')):.3f}"
              + f" | {sizes[program]['hot']:.2f}x | {sizes[program]['cold']:.2f}x |")
    means = {tool: [measure.geometric_mean([values(p, tool, "time")[i] for p in names])
                    for i in range(made)] for tool in tools}
    print("| geometric mean | " + " | ".join(str(Ratio(means[t])) for t in tools) + " | | | |")


def main() -> int:
    plumb = str(Path(sys.argv[1]).resolve())
    options = dict(word.removeprefix("--").partition("=")[::2] for word in sys.argv[2:])
    if "fresh" in options:
        RECORD.forget()
    if "table" not in options:
        most = (float(options.get("seconds", SECONDS)), int(options.get("rounds", MOST_ROUNDS)))
        with tempfile.TemporaryDirectory() as name:
            measure_all(plumb, Path(name), options.get("only", ""), most)
    print_table()
    return 0


if __name__ == "__main__":
    sys.exit(main())
