#!/usr/bin/env python3
"""What `plumb watch` costs: whole programs, and a server under load.

Programs: CPU time and peak memory as ratios to native, interleaved, the best
of the rounds counts. The watched program alone is measured, as a server in
production would feel it: the report is made afterwards, by another process.
Server: redis-server on loopback with redis-benchmark; throughput, p99 latency
and resident memory. Peers that are not installed are left out.
"""

import csv
import glob
import io
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import measure
import subjects

ROUNDS = 5
PROGRAMS = ["perl", "python3", "sqlite3", "sort", "awk", "git", "lua"]
PORT = 17391
REQUESTS = 100_000
SERVER_ROUNDS = 5


def first_of(*patterns: str) -> str | None:
    return next((path for pattern in patterns for path in sorted(glob.glob(pattern))), None)


def environments(plumb: Path, folder: Path) -> dict[str, dict[str, str] | None]:
    """How each tool gets into an unmodified program; None: by a command."""
    runtime = plumb.parent.parent / "lib" / "plumb" / "libplumb_watch.so"
    found: dict[str, dict[str, str] | None] = {
        "native": {},
        "plumb watch": {
            "LD_PRELOAD": str(runtime),
            # As the command sets it, with its defaults.
            "PLUMB_RUNTIME": "watch:epoch=1000:interval=10000:sample=65536:depth=30:"
                             f"socket={folder}/%p.socket:file={folder}/%p.snapshot",
        },
    }
    if lsan := first_of("/usr/lib/gcc/x86_64-linux-gnu/*/liblsan.so"):
        found["LeakSanitizer (preloaded)"] = {"LD_PRELOAD": lsan, "LSAN_OPTIONS": "exitcode=0"}
    if jemalloc := first_of("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"):
        found["jemalloc"] = {"LD_PRELOAD": jemalloc}
        found["jemalloc, profiling"] = {
            "LD_PRELOAD": jemalloc,
            "MALLOC_CONF": f"prof:true,lg_prof_sample:16,prof_prefix:{folder}/jeprof"}
    if tcmalloc := first_of("/usr/lib/x86_64-linux-gnu/libtcmalloc.so.4"):
        found["tcmalloc"] = {"LD_PRELOAD": tcmalloc}
        found["tcmalloc, profiling"] = {"LD_PRELOAD": tcmalloc,
                                        "TCMALLOC_SAMPLE_PARAMETER": "65536"}
    if shutil.which("heaptrack"):
        found["heaptrack"] = None
    return found


def programs(folder: Path) -> dict[str, list[str]]:
    commands = subjects.subjects(folder)
    (folder / "server.lua").write_text(
        "local live = {}\n"
        "for i = 1, 3000000 do\n"
        "  live[i % 20000] = { name = 'n' .. i, next = live[(i * 7) % 20000] }\n"
        "  if live[i % 20000].next then live[i % 20000].next.next = nil end\n"
        "end\nprint(#live)\n")
    if lua := shutil.which("lua5.4") or shutil.which("lua"):
        commands["lua"] = [lua, str(folder / "server.lua")]
    return {name: commands[name] for name in PROGRAMS if name in commands}


def run_program(command: list[str], env: dict[str, str] | None, folder: Path) -> measure.Measured:
    if env is None:
        return measure.run(["heaptrack", "--record-only", "-o", str(folder / "heaptrack"), *command])
    return measure.run(command, env)


def whole_programs(plumb: Path, folder: Path) -> None:
    tools = environments(plumb, folder)
    others = [name for name in tools if name != "native"]
    print("\n| program | native, s | " + " | ".join(others) + " |")
    print("|---|---|" + "---|" * len(others))
    times: dict[str, list[float]] = {name: [] for name in others}
    memory: dict[str, list[float]] = {name: [] for name in others}
    for program, command in programs(folder).items():
        best: dict[str, list[measure.Measured]] = {name: [] for name in tools}
        for _ in range(ROUNDS):
            for name, env in tools.items():
                best[name].append(run_program(command, env, folder))
        cpu = {name: min(m.cpu for m in runs) for name, runs in best.items()}
        peak = {name: min(m.peak_kb for m in runs) for name, runs in best.items()}
        cells = []
        for name in others:
            times[name].append(cpu[name] / cpu["native"])
            memory[name].append(peak[name] / peak["native"])
            cells.append(f"{times[name][-1]:.2f}x, memory {memory[name][-1]:.2f}x")
            if name == "plumb watch" and best[name][0].stdout != best["native"][0].stdout:
                cells[-1] += " (**other output**)"
        print(f"| {program} | {cpu['native']:.2f} | " + " | ".join(cells) + " |", flush=True)
    print("| geometric mean | | " + " | ".join(
        f"{measure.geometric_mean(times[n]):.3f}x, memory {measure.geometric_mean(memory[n]):.3f}x"
        for n in others) + " |")
    print("| worst | | " + " | ".join(
        f"{max(times[n]):.2f}x, memory {max(memory[n]):.2f}x" for n in others) + " |")


class Redis:
    """redis-server on loopback for as long as the block lasts."""

    def __init__(self, folder: Path, prefix: list[str], env: dict[str, str]) -> None:
        self.command = [*prefix, "redis-server", "--port", str(PORT), "--bind", "127.0.0.1",
                        "--save", "", "--appendonly", "no", "--dir", str(folder)]
        self.env = env

    def __enter__(self) -> "Redis":
        self.process = subprocess.Popen(self.command, env={**os.environ, **self.env},
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            time.sleep(0.05)
            if self.client("ping").strip() == "PONG":
                return self
        raise RuntimeError("redis-server did not come up")

    def client(self, *words: str) -> str:
        return subprocess.run(["redis-cli", "-p", str(PORT), *words], capture_output=True,
                              text=True).stdout

    def load(self) -> tuple[float, float]:
        """Requests per second, p99 in ms: means over the kinds of request."""
        done = subprocess.run(
            ["redis-benchmark", "-p", str(PORT), "-n", str(REQUESTS), "-r", "50000", "-d", "100",
             "-t", "set,get,lpush,lpop,hset", "--csv"], capture_output=True, text=True, check=True)
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        return (statistics.mean(float(r["rps"]) for r in rows),
                statistics.mean(float(r["p99_latency_ms"]) for r in rows))

    def resident_kb(self) -> int:
        info = self.client("info", "memory")
        return next(int(line.split(":")[1]) for line in info.splitlines()
                    if line.startswith("used_memory_rss:")) // 1024

    def cpu(self) -> float:
        fields = self.client("info", "cpu").splitlines()
        return sum(float(line.split(":")[1]) for line in fields
                   if line.startswith(("used_cpu_sys:", "used_cpu_user:")))

    def __exit__(self, *_: object) -> None:
        self.client("shutdown", "nosave")
        self.process.wait(timeout=30)


def server(plumb: Path, folder: Path) -> None:
    if not shutil.which("redis-server") or not shutil.which("redis-benchmark"):
        print("\nNo redis here: the server was not measured.")
        return
    tools = {name: env for name, env in environments(plumb, folder).items()
             if name in ("native", "plumb watch")}
    figures: dict[str, list[tuple[float, float, float, int]]] = {name: [] for name in tools}
    for _ in range(SERVER_ROUNDS):
        for name, env in tools.items():
            with Redis(folder, [], env) as redis:
                rate, late = redis.load()
                figures[name].append((rate, late, redis.cpu(), redis.resident_kb()))
    print("\n| redis-server | requests/s | p99, ms | CPU, s | resident, kB |")
    print("|---|---|---|---|---|")
    middle = {name: [statistics.median(column) for column in zip(*rows)]
              for name, rows in figures.items()}
    for name, (rate, late, cpu, rss) in middle.items():
        print(f"| {name} | {rate:,.0f} | {late:.2f} | {cpu:.2f} | {rss:,.0f} |")
    ratio = [b / a for a, b in zip(middle["native"], middle["plumb watch"])]
    print(f"| ratio | {ratio[0]:.3f} | {ratio[1]:.2f} | {ratio[2]:.3f} | {ratio[3]:.3f} |")


def main() -> int:
    plumb = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        whole_programs(plumb, Path(name))
        server(plumb, Path(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
