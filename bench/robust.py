#!/usr/bin/env python3
"""Does `plumb run` hold when the program is at its limits?

64 threads that allocate while `exit` is called, many times: no hang, no crash, no
false alarm. 1,000 threads. Ten million live blocks in a list of random order: memory
that Plumb takes per block, and how long the scan takes.

usage: robust.py PLUMB [--times=N] [--blocks=N]
"""

import argparse
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import measure

DATA = Path(__file__).resolve().parent.parent / "src/run/testdata"
SCAN_NANOSECONDS = 64  # offset in the header of a trace (src/trace/record.h)

HEAP = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next; uint64_t value[2]; };
static struct node *head;
int main(int argc, char **argv) {
  size_t count = strtoull(argv[1], 0, 10);
  struct node **all = malloc(count * sizeof *all);
  for (size_t i = 0; i < count; i++) all[i] = malloc(sizeof **all);
  uint64_t state = 1;
  for (size_t i = count - 1; i > 0; i--) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    size_t other = (state >> 20) % (i + 1);
    struct node *node = all[i]; all[i] = all[other]; all[other] = node;
  }
  for (size_t i = 0; i < count; i++) { all[i]->next = head; head = all[i]; }
  free(all);
  return 0;
}
"""


def compile_to(folder: Path, name: str, source: Path, flags: list[str]) -> str:
    program = str(folder / name)
    subprocess.run(["clang-19", "-w", "-pthread", *flags, str(source), "-o", program], check=True)
    return program


def scanned(plumb: str, folder: Path, command: list[str], *options: str) -> tuple[int, dict]:
    output = folder / "report.json"
    output.unlink(missing_ok=True)
    done = subprocess.run([plumb, "run", "--no-rerun", "--format=json", f"--output={output}", *options, "--", *command],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    return done.returncode, json.loads(output.read_text()) if output.exists() else {}


def exits(plumb: str, folder: Path, times: int) -> None:
    program = compile_to(folder, "stress", DATA / "stress.c", ["-O2"])
    hung = crashed = alarms = 0
    for _ in range(times):
        try:
            status, report = scanned(plumb, folder, [program], "--stacks=1", "--no-forgotten")
        except subprocess.TimeoutExpired:
            hung += 1
            continue
        crashed += status != 0 or not report
        alarms += bool(report) and report["totals"]["lost"]["blocks"] != 0
    print(f"| 64 threads allocate while `exit` is called, {times} times | {hung} hung, {crashed} ended otherwise, {alarms} false alarms |")


def threads(plumb: str, folder: Path) -> None:
    program = compile_to(folder, "damaged", DATA / "damaged.c", ["-O0"])
    status, report = scanned(plumb, folder, [program, "threads"])
    print(f"| 1,000 threads, of which all but one lose a block (and main one) | status {status}, {report['totals']['lost']['blocks']:,} lost |")


def heap(plumb: str, folder: Path, blocks: int) -> None:
    source = folder / "heap.c"
    source.write_text(HEAP)
    program = compile_to(folder, "heap", source, ["-O1"])
    native = measure.run([program, str(blocks)])
    trace = folder / "trace"
    ours = measure.run([plumb, "run", "--no-rerun", "--no-forgotten", f"--output={folder}/r", f"--keep-trace={trace}",
                        "--", program, str(blocks)])
    with trace.open("rb") as file:
        scan = struct.unpack_from("<Q", file.read(SCAN_NANOSECONDS + 8), SCAN_NANOSECONDS)[0] / 1e9
    per_block = (ours.peak_kb - native.peak_kb) * 1024 / blocks
    print(f"| {blocks:,} live blocks, a list in random order | {per_block:.0f} bytes a block, scan {scan:.1f} s "
          f"(the whole run {ours.wall:.1f} s, native {native.wall:.1f} s) |")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("plumb")
    parser.add_argument("--times", type=int, default=500)
    parser.add_argument("--blocks", type=int, default=10_000_000)
    given = parser.parse_args()
    print("\n| what | result |\n|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.times:
            exits(given.plumb, folder, given.times)
            threads(given.plumb, folder)
        if given.blocks:
            heap(given.plumb, folder, given.blocks)
    return 0


if __name__ == "__main__":
    sys.exit(main())
