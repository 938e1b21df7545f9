#!/usr/bin/env python3
"""A server for some minutes under `plumb watch`: soak_watch.py PLUMB MINUTES.

redis-server with a small leak put into it (bench/soak_leak.c: one block in ten
thousand answers), a table that is filled at the start and a cache that is used
rarely, under load on loopback. Meanwhile watchers come, go and are killed. At the
end the leak must be first in the ranking and the other two no leaks; the server
must have answered all along.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PORT = "17396"
HERE = Path(__file__).resolve().parent.parent
LOAD = ["redis-benchmark", "-p", PORT, "-r", "20000", "-d", "100", "-q", "-n", "50000",
        "-t", "set,get,lpush,lpop,hset"]


def child_of(process: subprocess.Popen) -> int:
    path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    for _ in range(600):
        if words := path.read_text().split():
            return int(words[0])
        time.sleep(0.1)
    sys.exit("soak: the server was not started")


def answers() -> bool:
    done = subprocess.run(["redis-cli", "-p", PORT, "ping"], capture_output=True, text=True)
    return done.stdout.strip() == "PONG"


def functions(report: dict) -> list[str]:
    """What each leak's own code is called: the innermost frame with a known line."""
    names = []
    for leak in report["leaks"]:
        frames = [f.get("function", "?") for f in leak["allocation"].get("stack", [])]
        names.append(next((f for f in frames if f not in ("malloc", "calloc", "realloc")), "?"))
    return names


def main() -> int:
    if not all(shutil.which(word) for word in ("redis-server", "redis-cli", "redis-benchmark")):
        print("redis-server and redis-tools are not installed: not run")
        return 77
    plumb, minutes = str(Path(sys.argv[1]).resolve()), float(sys.argv[2])
    problems = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library = folder / "soak_leak.so"
        subprocess.run(["cc", "-O1", "-g", "-fPIC", "-shared", "-fno-builtin", "-o", str(library),
                        str(HERE / "bench" / "soak_leak.c")], check=True)
        report_path = folder / "report.json"
        server = subprocess.Popen(
            [plumb, "watch", "--format=json", f"--output={report_path}", "--", "redis-server",
             "--port", PORT, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
             "--dir", name],
            env={**os.environ, "LD_PRELOAD": str(library), "SOAK_PROGRAM": "redis-server"},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        pid = str(child_of(server))
        while not answers():
            time.sleep(0.1)
        end = time.monotonic() + 60 * minutes
        looks = killed = loads = 0
        try:
            while time.monotonic() < end:
                load = subprocess.Popen(LOAD, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                # One that is killed while it asks, and one that is not.
                hasty = subprocess.Popen([plumb, "watch", "--snapshot", "--quiet", pid],
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(0.02 * (killed % 5))
                hasty.kill()
                hasty.wait()
                killed += 1
                asked = subprocess.run([plumb, "watch", "--snapshot", "--format=json", pid],
                                       capture_output=True, text=True)
                looks += asked.returncode in (0, 1)
                loads += load.wait() == 0
                if not answers():
                    problems.append("the server did not answer")
                    break
        finally:
            subprocess.run(["redis-cli", "-p", PORT, "shutdown", "nosave"], capture_output=True)
            try:
                status = server.wait(timeout=60)
            except subprocess.TimeoutExpired:
                server.kill()
                status = server.wait()
        report = json.loads(report_path.read_text())
    found = functions(report)
    print(f"redis-server, {minutes:g} minutes: {loads} loads of {5 * 50000:,} requests, "
          f"{looks} looks, {killed} watchers killed, status {status}")
    for leak, function in list(zip(report["leaks"], found))[:5]:
        print(f"  {leak['kind']}: {function}, {leak['bytes']:,} bytes, "
              f"confidence {leak['confidence']:.2f}")
    if found[:1] != ["forget_answer"]:
        problems.append(f"first in the ranking is {found[:1]}, not forget_answer")
    problems += [f"{name} is called a leak" for name in ("fill_table", "fill_cache")
                 if name in found]
    if status != 0:
        problems.append(f"the server ended with status {status}")
    if looks != killed:
        problems.append(f"{killed - looks} looks failed")
    for problem in problems:
        print(f"  problem: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
