#!/usr/bin/env python3
"""What `plumb cc -fplumb=sampled` costs: the checks alone, and the whole of it.

The programs are bench/compiled/*, at -O2 by clang 19. CPU time over native in
interleaved pairs with 95% intervals: built so but not watched (the checks), and
watched with checks that fall to 0.1% and to 0.01%. Then how much the code grew,
the hot part and the cold one.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import measure
import sampled

HERE = Path(__file__).resolve().parent
PAIRS = 15
SECONDS = 300


def build(command: list[str], source: Path, out: Path) -> None:
    subprocess.run([*command, "-O2", "-g", str(source), "-o", str(out)], check=True)


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


def main() -> int:
    plumb = str(Path(sys.argv[1]).resolve())
    wanted = sys.argv[2:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        watched = sampled.environments(Path(plumb), folder)["plumb watch"]
        tools = {
            "checks": {},
            "least=0.1%": {**watched, "PLUMB_OPTIONS": "least=0.1%"},
            "least=0.01%": {**watched, "PLUMB_OPTIONS": "least=0.01%"},
        }
        programs = {}
        for source in sorted((HERE / "compiled").iterdir()):
            if wanted and source.stem not in wanted:
                continue
            cxx = source.suffix == ".cc"
            binaries = (folder / f"{source.stem}-native", folder / f"{source.stem}-sampled")
            build(["clang++-19" if cxx else "clang-19"], source, binaries[0])
            build([plumb, "c++" if cxx else "cc", "-fplumb=sampled"], source, binaries[1])
            programs[source.stem] = binaries
        ratios = {program: {tool: [] for tool in tools} for program in programs}
        pairs = 0
        for _ in sampled.rounds(SECONDS, PAIRS):
            pairs += 1
            for program, (native, traced) in programs.items():
                base = sampled.run_once([str(native)], {})
                for tool, env in tools.items():
                    run = sampled.run_once([str(traced)], env)
                    if run.output != base.output:
                        sys.exit(f"bench: {program} behaves differently with {tool}")
                    ratios[program][tool].append(run.cpu / base.cpu)
        print(f"\n{pairs} pairs, CPU time over native, with 95% intervals\n")
        print("| program | " + " | ".join(tools) + " | hot code | cold code |")
        print("|---|" + "---|" * (len(tools) + 2))
        for program, (native, traced) in programs.items():
            before, _ = code_size(native)
            hot, cold = code_size(traced)
            print(f"| {program} | "
                  + " | ".join(str(sampled.ratio_of(ratios[program][tool])) for tool in tools)
                  + f" | {hot / before:.2f}x | {cold / before:.2f}x |")
        means = {tool: [measure.geometric_mean([ratios[p][tool][i] for p in programs])
                        for i in range(pairs)] for tool in tools}
        print("| geometric mean | " + " | ".join(str(sampled.ratio_of(means[t])) for t in tools)
              + " | | |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
