"""Running a command and measuring it: CPU seconds, peak memory, output."""

import os
import subprocess
import threading
import time
from dataclasses import dataclass


@dataclass
class Measured:
    cpu: float  # user and system, children included
    wall: float
    peak_kb: int
    status: int
    stdout: bytes
    stderr: bytes


def run(command: list[str], env: dict[str, str] | None = None, stdin: bytes = b"") -> Measured:
    """Runs to the end; the figures are the command's own and its children's."""
    start = time.monotonic()
    process = subprocess.Popen(
        command, env={**os.environ, **(env or {})},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )
    # wait4 gives this child's figures alone, so the pipes are drained by hand.
    streams: dict[str, bytes] = {}
    readers = [
        threading.Thread(target=lambda n=n, s=s: streams.__setitem__(n, s.read()))
        for n, s in (("out", process.stdout), ("err", process.stderr))
    ]
    for reader in readers:
        reader.start()
    try:
        process.stdin.write(stdin)
        process.stdin.close()
    except BrokenPipeError:
        pass
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    for reader in readers:
        reader.join()
    return Measured(
        usage.ru_utime + usage.ru_stime, time.monotonic() - start, usage.ru_maxrss,
        process.returncode, streams["out"], streams["err"],
    )


def geometric_mean(values: list[float]) -> float:
    product = 1.0
    for value in values:
        product *= value
    return product ** (1 / len(values))
