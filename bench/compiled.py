#!/usr/bin/env python3
"""What a program built by `plumb cc` costs beside other tools, as ratios to native.

The programs are bench/compiled/*: small, each with a habit of its own. CPU time
(the best of three interleaved rounds) and peak memory, at -O2 by clang 19.
"""

import shutil
import sys
import tempfile
from pathlib import Path

import measure

ROUNDS = 3
HERE = Path(__file__).resolve().parent
MEMCHECK = ["valgrind", "-q", "--leak-check=full"]


def builds(plumb: str) -> dict[str, tuple[list[str], list[str], dict[str, str]]]:
    """Compiler, prefix of the command, environment."""
    found = {
        "native": (["clang-19"], [], {}),
        "minimal": ([plumb, "cc", "-fplumb=minimal"], [], {}),
        "partial": ([plumb, "cc", "-fplumb=partial"], [], {}),
        "full": ([plumb, "cc"], [], {}),
        "LSan": (["clang-19", "-fsanitize=leak"], [], {}),
        "ASan": (["clang-19", "-fsanitize=address"], [], {}),
    }
    if shutil.which("valgrind"):
        found["memcheck"] = (["clang-19", "-gdwarf-4"], MEMCHECK, {})
    return found


def compiled(command: list[str], source: Path, out: Path) -> float:
    """Builds; the CPU seconds that it took."""
    command = list(command)
    if source.suffix == ".cc":
        at = command.index("cc") if "cc" in command else 0
        command[at] = "c++" if "cc" in command else "clang++-19"
    done = measure.run([*command, "-O2", "-g", str(source), "-o", str(out)])
    if done.status != 0:
        sys.exit(f"bench: {' '.join(command)} {source}: {done.stderr.decode()}")
    return done.cpu


def main() -> int:
    plumb = str(Path(sys.argv[1]).resolve())
    tools = builds(plumb)
    names = [name for name in tools if name != "native"]
    times: dict[str, list[float]] = {name: [] for name in names}
    memory: dict[str, list[float]] = {name: [] for name in names}
    compile_ratio, size_ratio = [], []
    with tempfile.TemporaryDirectory() as folder:
        print("\n| program | native, s | " + " | ".join(names) + " |")
        print("|---|---|" + "---|" * len(names))
        for source in sorted((HERE / "compiled").iterdir()):
            binaries = {name: Path(folder) / f"{source.stem}-{name}" for name in tools}
            spent = {name: compiled(tools[name][0], source, binaries[name]) for name in tools}
            compile_ratio.append(spent["full"] / spent["native"])
            size_ratio.append(binaries["full"].stat().st_size / binaries["native"].stat().st_size)
            best = {name: float("inf") for name in tools}
            peak = {name: 0 for name in tools}
            expected = None
            for round_ in range(ROUNDS):
                for name, (_, prefix, env) in tools.items():
                    if name == "memcheck" and round_ > 0:
                        continue
                    done = measure.run([*prefix, str(binaries[name])], env)
                    expected = expected or (done.status, done.stdout)
                    if (done.status, done.stdout) != expected:
                        sys.exit(f"bench: {source.name} behaves differently under {name}")
                    best[name] = min(best[name], done.cpu)
                    peak[name] = max(peak[name], done.peak_kb)
            cells = []
            for name in names:
                times[name].append(best[name] / best["native"])
                memory[name].append(peak[name] / peak["native"])
                cells.append(f"{times[name][-1]:.2f}x, {memory[name][-1]:.2f}x")
            print(f"| {source.stem} | {best['native']:.2f} | " + " | ".join(cells) + " |", flush=True)
        means = (f"{measure.geometric_mean(times[n]):.2f}x, {measure.geometric_mean(memory[n]):.2f}x"
                 for n in names)
        print("| geometric mean | | " + " | ".join(means) + " |")
        print(f"\nTime, then peak memory, as ratios to native. Compiling with `full`: "
              f"{measure.geometric_mean(compile_ratio):.2f}x the time, "
              f"{measure.geometric_mean(size_ratio):.2f}x the file.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
