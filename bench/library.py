#!/usr/bin/env python3
"""What the preloaded library of `plumb run` costs a program, without the command's own
work (which reads the trace and names the stacks): CPU time as a ratio to native, the
scan's time and the memory. The library is loaded as the command loads it, so a change to
it is measured without building anything else.

usage: library.py LIBRARY [--rounds=N] [--only=PROGRAM,...] [--blocks=N]

With --blocks, a list of so many blocks in random order instead: the scan's worst case.
"""

import argparse
import os
import struct
import sys
import tempfile
from pathlib import Path

import long_subjects
import measure
import overhead
import robust

FD = 900
ROOM = 24 << 30
SETTINGS = f"fd={FD}:depth=4:quick=1:scrub=1"  # the command's defaults


def run(command: list[str], library: str | None) -> tuple[float, int, float]:
    """CPU seconds, peak in kB, and how long the scan took."""
    trace = os.memfd_create("trace")
    os.ftruncate(trace, ROOM)
    os.dup2(trace, FD, inheritable=True)
    pid = os.fork()
    if pid == 0:
        nowhere = os.open("/dev/null", os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        if library:
            os.environ |= {"PLUMB_RUNTIME": SETTINGS, "LD_PRELOAD": library}
        os.execvp(command[0], command)
    _, _, usage = os.wait4(pid, 0)
    head = os.pread(trace, robust.SCAN_NANOSECONDS + 8, 0)
    scan = struct.unpack_from("<Q", head, robust.SCAN_NANOSECONDS)[0] / 1e9
    os.close(trace)
    os.close(FD)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss, scan


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only")
    parser.add_argument("--blocks", type=int)
    given = parser.parse_args()
    library = str(Path(given.library).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.blocks:
            (folder / "heap.c").write_text(robust.HEAP)
            commands = {f"{given.blocks:,} blocks": [robust.compile_to(folder, "heap", folder / "heap.c", ["-O1"]), str(given.blocks)]}
        else:
            commands = long_subjects.long_subjects(folder)
            (folder / "loop.c").write_text(overhead.LOOP)
            if measure.run(["cc", "-O1", "-fno-builtin", "-o", str(folder / "loop"), str(folder / "loop.c")]).status == 0:
                commands["malloc loop"] = [str(folder / "loop")]
        if given.only:
            commands = {k: v for k, v in commands.items() if k in given.only.split(",")}
        print("| program | native, s | with the library | scan, s | memory, MB | with the library |")
        print("|---|---|---|---|---|---|")
        ratios = []
        for program, command in commands.items():
            native, ours = (float("inf"), 0, 0.0), (float("inf"), 0, 0.0)
            for _ in range(given.rounds):
                native = min(native, run(command, None))
                ours = min(ours, run(command, library))
            if program != "malloc loop":
                ratios.append(ours[0] / native[0])
            print(f"| {program} | {native[0]:.2f} | {ours[0] / native[0]:.2f}x | {ours[2]:.2f} | {native[1] // 1024} | {ours[1] // 1024} |", flush=True)
        if len(ratios) > 1:
            print(f"| geometric mean without the loop | | {measure.geometric_mean(ratios):.2f}x | | | |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
