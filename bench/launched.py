"""Running a command as measure.py does, but started by a small process (launch.c), with
files for its input and output: neither the peak memory of the process that measures nor
its work with pipes is in the figures."""

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent


@dataclass
class Launched:
    cpu: float  # user and system, children included
    wall: float
    peak_kb: int
    status: int
    stdout: bytes


class Launcher:
    def __init__(self, folder: Path):
        self.folder = folder
        self.program = folder / "launch"
        subprocess.run(["clang-19", "-O2", "-o", str(self.program), str(HERE / "launch.c")],
                       check=True)

    def run(self, command: list[str], env: dict[str, str], stdin: Path | None) -> Launched:
        result, output = self.folder / "launch.result", self.folder / "launch.out"
        start = time.monotonic()
        with open(stdin or os.devnull, "rb") as given, open(output, "wb") as taken:
            subprocess.run([str(self.program), str(result), *command], stdin=given, stdout=taken,
                           stderr=subprocess.DEVNULL, env={**os.environ, **env}, check=True)
        wall = time.monotonic() - start
        status, cpu, peak = result.read_text().split()
        return Launched(float(cpu), wall, int(peak), int(status), output.read_bytes())
