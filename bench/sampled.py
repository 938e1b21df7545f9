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
from dataclasses import dataclass
from pathlib import Path

import measure

ROUNDS = 3
PORT = 17391
REQUESTS = 50_000
SERVER_ROUNDS = 3


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


PERL = """
my %live; my $n = 0;
for my $i (1 .. 1_000_000) {
  $live{$i % 30000} = "value $i " . ("x" x ($i % 50));
  $n += length($live{($i * 7) % 30000} // "");
}
print "$n\\n";
"""
PYTHON = """
live, n = {}, 0
for i in range(1_500_000):
    live[i % 30000] = [str(i), (i, i + 1)]
    n += len(live.get(i * 7 % 30000, ()))
print(n)
"""
LUA = """
local live, n = {}, 0
for i = 1, 300000 do
  live[i % 30000] = { name = 'n' .. i }
  if live[(i * 7) % 30000] then n = n + #live[(i * 7) % 30000].name end
end
print(n)
"""
AWK = "BEGIN { for (i = 0; i < 1500000; i++) { a[i % 30000] = \"v\" i; n += length(a[i * 7 % 30000]) } print n }"
SQL = """
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 400000)
INSERT INTO t SELECT i, hex(i * 7919), 'row ' || i FROM n;
CREATE INDEX x ON t(b);
SELECT count(*), min(b), max(c) FROM t WHERE b LIKE '%7%';
SELECT sum(length(c)) FROM (SELECT c FROM t ORDER BY c DESC);
"""


def programs(folder: Path, live: int = 30000) -> dict[str, list[str]]:
    """A second or more each: start-up is not what is measured. `live` is how
    many of their objects are alive at a time."""
    texts = {"a.pl": PERL, "a.py": PYTHON, "a.lua": LUA, "a.sql": SQL}
    for name, text in texts.items():
        (folder / name).write_text(text.replace("30000", str(live)))
    lines = folder / "lines"
    lines.write_text("".join(f"{i * 7919 % 1000003} some text {i}\n" for i in range(1_500_000)))
    commands = {
        "perl": ["perl", str(folder / "a.pl")],
        "python3": ["/usr/bin/python3", "-S", str(folder / "a.py")],
        "lua": ["lua5.4", str(folder / "a.lua")],
        "mawk": ["mawk", AWK.replace("30000", str(live))],
        "sqlite3": ["sqlite3", "-init", str(folder / "a.sql"), ":memory:", ".quit"],
        "sort": ["sort", "--parallel=2", "-S", "200M", str(lines)],
    }
    return {name: command for name, command in commands.items() if shutil.which(command[0])}


@dataclass
class Run:
    cpu: float
    peak_kb: int  # of the process itself
    output: bytes


def run_once(command: list[str], env: dict[str, str]) -> Run:
    """The peak is read while it runs: what wait4 says is never less than ours."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, env={**os.environ, **env}, stdout=output,
                                   stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        peak = 0
        while True:
            try:
                status = Path(f"/proc/{process.pid}/status").read_text()
                peak = max([peak, *(int(line.split()[1]) for line in status.splitlines()
                                    if line.startswith("VmHWM"))])
            except OSError:
                pass
            pid, _, usage = os.wait4(process.pid, os.WNOHANG)
            if pid != 0:
                break
            time.sleep(0.01)
        process.returncode = 0
        output.seek(0)
        return Run(usage.ru_utime + usage.ru_stime, peak, output.read())


def run_program(command: list[str], env: dict[str, str] | None, folder: Path) -> Run:
    if env is None:
        return run_once(["heaptrack", "-o", str(folder / "heaptrack"), *command], {})
    return run_once(command, env)


def whole_programs(plumb: Path, folder: Path) -> None:
    tools = environments(plumb, folder)
    others = [name for name in tools if name != "native"]
    print("\n| program | native, s | " + " | ".join(others) + " |")
    print("|---|---|" + "---|" * len(others))
    times: dict[str, list[float]] = {name: [] for name in others}
    memory: dict[str, list[float]] = {name: [] for name in others}
    for program, command in programs(folder).items():
        runs: dict[str, list[Run]] = {name: [] for name in tools}
        for _ in range(ROUNDS):
            for name, env in tools.items():
                runs[name].append(run_program(command, env, folder))
        cpu = {name: min(run.cpu for run in all_runs) for name, all_runs in runs.items()}
        peak = {name: statistics.median(run.peak_kb for run in all_runs)
                for name, all_runs in runs.items()}
        cells = []
        for name in others:
            # A tool that changes what the program says did not run it.
            if tools[name] is not None and runs[name][0].output != runs["native"][0].output:
                cells.append("other output")
                continue
            times[name].append(cpu[name] / cpu["native"])
            cells.append(f"{times[name][-1]:.3f}x")
            if tools[name] is not None:
                memory[name].append(peak[name] / peak["native"])
                cells[-1] += f", memory {memory[name][-1]:.3f}x"
        print(f"| {program} | {cpu['native']:.2f} | " + " | ".join(cells) + " |", flush=True)

    def summary(fold) -> str:
        cells = []
        for name in others:
            cells.append(f"{fold(times[name]):.3f}x" if times[name] else "-")
            if memory[name]:
                cells[-1] += f", memory {fold(memory[name]):.3f}x"
        return " | ".join(cells)

    print(f"| geometric mean | | {summary(measure.geometric_mean)} |")
    print(f"| worst | | {summary(max)} |")


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
