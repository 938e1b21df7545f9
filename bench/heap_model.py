#!/usr/bin/env python3
"""The paper's address tree beside our table of windows (bench/heap_model.cc): the
median of five runs each."""

import statistics
import subprocess
import tempfile
from pathlib import Path

ROUNDS = 5


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        binary = Path(name) / "heap_model"
        subprocess.run(["clang++-19", "-O2", "-std=c++20", "-o", str(binary),
                        str(Path(__file__).with_suffix(".cc"))], check=True)
        rows: dict[str, list[list[float]]] = {}
        for _ in range(ROUNDS):
            done = subprocess.run([str(binary)], capture_output=True, text=True, check=True)
            for line in done.stdout.splitlines():
                model, *figures = line.split(",")
                rows.setdefault(model, []).append([float(figure) for figure in figures])
    print("\n| heap model | blocks | find and note, any block, ns | the same 1000 blocks, ns "
          "| free and allocate, ns | all of them, ms | bytes per block |")
    print("|---|---|---|---|---|---|---|")
    for model, runs in rows.items():
        middle = [statistics.median(column) for column in zip(*runs)]
        print(f"| {model} | {middle[0]:,.0f} | {middle[1]:.1f} | {middle[2]:.1f} | {middle[3]:.1f} "
              f"| {middle[4]:.2f} | {middle[5]:.1f} |")


if __name__ == "__main__":
    main()
