#!/usr/bin/env python3
"""What `plumb watch` costs: whole programs, and servers under load.

Programs: CPU time and peak memory as ratios to native, in interleaved pairs;
mean of the logarithms, with its 95% interval. The watched program alone is
measured, as a server in production would feel it: the report is made
afterwards, by another process. Peers run fewer times, best of the rounds.
Servers: redis-server with redis-benchmark and lighttpd with wrk, on loopback,
in pairs as well: throughput, p99 latency, CPU time per request, resident
memory. What is not installed is left out. Each part has its share of ten
minutes and says how many pairs it made of that.
"""

import csv
import glob
import io
import math
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import measure

PAIRS = 15
PEER_ROUNDS = 2
LEAST_PAIRS = 3
SECONDS = {"programs": 220, "peers": 120, "redis": 110, "lighttpd": 90}
PORT = 17391
REQUESTS = 60_000


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


# Student's t, 97.5%, by degrees of freedom.
T_QUANTILES = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26,
               10: 2.23, 11: 2.20, 12: 2.18, 13: 2.16, 14: 2.14}


@dataclass
class Ratio:
    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"


def ratio_of(ratios: list[float]) -> Ratio:
    logs = [math.log(ratio) for ratio in ratios]
    mean = statistics.mean(logs)
    if len(logs) < 2:
        return Ratio(math.exp(mean), 0, math.inf)
    wide = T_QUANTILES.get(len(logs) - 1, 2.0) * statistics.stdev(logs) / math.sqrt(len(logs))
    return Ratio(math.exp(mean), math.exp(mean - wide), math.exp(mean + wide))


def rounds(seconds: float, most: int):
    """Numbers of rounds, until the time is over or there are enough."""
    end = time.monotonic() + seconds
    for number in range(most):
        if number >= LEAST_PAIRS and time.monotonic() > end:
            return
        yield number


def both(number: int) -> tuple[str, str]:
    """Who is first takes turns."""
    return ("native", "plumb watch") if number % 2 == 0 else ("plumb watch", "native")


def whole_programs(plumb: Path, folder: Path) -> None:
    tools = environments(plumb, folder)
    commands = programs(folder)
    time_ratios: dict[str, list[float]] = {name: [] for name in commands}
    memory_ratios: dict[str, list[float]] = {name: [] for name in commands}
    native: dict[str, list[Run]] = {name: [] for name in commands}
    changed: set[str] = set()
    made = 0
    for number in rounds(SECONDS["programs"], PAIRS):
        made += 1
        for program, command in commands.items():
            runs = {name: run_program(command, tools[name], folder) for name in both(number)}
            time_ratios[program].append(runs["plumb watch"].cpu / runs["native"].cpu)
            memory_ratios[program].append(runs["plumb watch"].peak_kb / runs["native"].peak_kb)
            native[program].append(runs["native"])
            if runs["plumb watch"].output != runs["native"].output:
                changed.add(program)
    print(f"\n{made} pairs, CPU time and peak memory of `plumb watch` over native, with 95% "
          "intervals\n")
    print("| program | native, s | time | memory | output |")
    print("|---|---|---|---|---|")
    for program in commands:
        seconds = statistics.median(run.cpu for run in native[program])
        print(f"| {program} | {seconds:.2f} | {ratio_of(time_ratios[program])} "
              f"| {statistics.median(memory_ratios[program]):.3f} "
              f"| {'other' if program in changed else 'the same'} |")
    means = [measure.geometric_mean([time_ratios[p][i] for p in commands]) for i in range(made)]
    print(f"| geometric mean | | {ratio_of(means)} "
          f"| {measure.geometric_mean([statistics.median(m) for m in memory_ratios.values()]):.3f} | |")
    print(f"| worst | | {max(ratio_of(r).mean for r in time_ratios.values()):.3f} "
          f"| {max(statistics.median(m) for m in memory_ratios.values()):.3f} | |", flush=True)
    peers(folder, tools, commands, native)


def peers(folder: Path, tools: dict, commands: dict[str, list[str]],
          native: dict[str, list[Run]]) -> None:
    names = [name for name in tools if name not in ("native", "plumb watch")]
    if not names:
        return
    end = time.monotonic() + SECONDS["peers"]
    print("\nPeers on the same programs, best of at most "
          f"{PEER_ROUNDS} over the best native run\n")
    print("| program | " + " | ".join(names) + " |")
    print("|---|" + "---|" * len(names))
    times: dict[str, list[float]] = {name: [] for name in names}
    for program, command in commands.items():
        best = min(run.cpu for run in native[program])
        peak = statistics.median(run.peak_kb for run in native[program])
        cells = []
        for name in names:
            if time.monotonic() > end:
                cells.append("no time")
                continue
            runs = [run_program(command, tools[name], folder) for _ in range(PEER_ROUNDS)]
            if tools[name] is not None and runs[0].output != native[program][0].output:
                cells.append("other output")
                continue
            times[name].append(min(run.cpu for run in runs) / best)
            memory = "" if tools[name] is None else \
                f", memory {statistics.median(run.peak_kb for run in runs) / peak:.2f}x"
            cells.append(f"{times[name][-1]:.2f}x{memory}")
        print(f"| {program} | " + " | ".join(cells) + " |", flush=True)
    print("| geometric mean | " + " | ".join(
        f"{measure.geometric_mean(times[name]):.2f}x" if times[name] else "-" for name in names)
        + " |")


def server_cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_kb(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))


def child_of(pid: int) -> int | None:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(children[0]) if children else None


class Server:
    """On loopback, for as long as the block lasts; its own process is `pid`."""

    def __init__(self, command: list[str], watched: list[str], env: dict[str, str]) -> None:
        self.command = [*watched, *command]
        self.is_watched = bool(watched)
        self.env = env

    def __enter__(self) -> "Server":
        self.process = subprocess.Popen(self.command, env={**os.environ, **self.env},
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            time.sleep(0.05)
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", PORT)) == 0:
                    self.pid = child_of(self.process.pid) if self.is_watched else self.process.pid
                    return self
        self.process.kill()
        raise RuntimeError(f"{self.command[0]} did not come up")

    def __exit__(self, *_: object) -> None:
        self.process.terminate()  # plumb passes it on
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@dataclass
class Load:
    rate: float  # requests a second
    late: float  # p99, ms
    cpu: float  # microseconds a request
    resident: float  # kB


def redis_load(server: Server) -> Load:
    """Rate and p99 are means over the kinds of request."""
    command = ["redis-benchmark", "-p", str(PORT), "-r", "50000", "-d", "100", "--csv",
               "-t", "set,get,lpush,lpop,hset"]
    subprocess.run([*command, "-n", str(REQUESTS // 4)], capture_output=True, check=True)
    before = server_cpu(server.pid)
    done = subprocess.run([*command, "-n", str(REQUESTS)], capture_output=True, text=True,
                          check=True)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    return Load(statistics.mean(float(row["rps"]) for row in rows),
                statistics.mean(float(row["p99_latency_ms"]) for row in rows),
                (server_cpu(server.pid) - before) * 1e6 / (REQUESTS * len(rows)),
                resident_kb(server.pid))


def in_ms(text: str) -> float:
    for unit, factor in (("us", 0.001), ("ms", 1), ("s", 1000)):
        if text.endswith(unit):
            return float(text[:-len(unit)]) * factor
    raise ValueError(text)


def lighttpd_load(server: Server) -> Load:
    command = ["wrk", "-t1", "-c32", "--latency", f"http://127.0.0.1:{PORT}/list/"]
    subprocess.run([*command, "-d1s"], capture_output=True, check=True)
    before = server_cpu(server.pid)
    done = subprocess.run([*command, "-d4s"], capture_output=True, text=True, check=True).stdout
    words = [line.split() for line in done.splitlines() if line.strip()]
    late = next(in_ms(w[1]) for w in words if w[0] == "99%")
    rate = next(float(w[1]) for w in words if w[0] == "Requests/sec:")
    count = next(int(w[0]) for w in words if w[1] == "requests")
    return Load(rate, late, (server_cpu(server.pid) - before) * 1e6 / count,
                resident_kb(server.pid))


def redis_command(folder: Path) -> list[str]:
    return ["redis-server", "--port", str(PORT), "--bind", "127.0.0.1", "--save", "",
            "--appendonly", "no", "--dir", str(folder)]


def lighttpd_command(folder: Path) -> list[str]:
    """Lists a directory: every answer is put together from many small blocks."""
    root = folder / "www" / "list"
    root.mkdir(parents=True, exist_ok=True)
    for i in range(40):
        (root / f"file{i}.txt").write_text("x" * i)
    config = folder / "lighttpd.conf"
    config.write_text(f'server.document-root = "{folder}/www"\nserver.port = {PORT}\n'
                      'server.bind = "127.0.0.1"\nserver.modules = ("mod_dirlisting")\n'
                      'dir-listing.activate = "enable"\n')
    return ["lighttpd", "-D", "-f", str(config)]


def server(plumb: Path, folder: Path, name: str, command: list[str], load, peers_too: bool) -> None:
    tools = {tool: env for tool, env in environments(plumb, folder).items()
             if tool in ("native", "plumb watch") or (peers_too and env is not None)}
    watched = [str(plumb), "watch", f"--output={folder}/report", "--"]

    def measured(tool: str) -> Load | None:
        env = {} if tool == "plumb watch" else tools[tool]
        try:
            with Server(command, watched if tool == "plumb watch" else [], env) as running:
                return load(running)
        except (RuntimeError, StopIteration, subprocess.CalledProcessError):
            return None

    figures: dict[str, list[Load]] = {tool: [] for tool in tools}
    pairs = 0
    for number in rounds(SECONDS[name], PAIRS):
        pair = {tool: measured(tool) for tool in both(number)}
        if None in pair.values():
            print(f"\n{name} did not answer: {[tool for tool in pair if pair[tool] is None]}")
            return
        pairs += 1
        for tool, figure in pair.items():
            figures[tool].append(figure)
        if number == 0:
            for tool in tools:
                if tool not in pair and (figure := measured(tool)) is not None:
                    figures[tool].append(figure)
    print(f"\n{name}, {pairs} pairs; peers once\n")
    print("| server | requests/s | p99, ms | CPU per request, us | resident, kB |")
    print("|---|---|---|---|---|")
    fields = ("rate", "late", "cpu", "resident")
    for tool, rows in figures.items():
        if rows:
            middle = [statistics.median(getattr(row, field) for row in rows) for field in fields]
            print(f"| {tool} | {middle[0]:,.0f} | {middle[1]:.2f} | {middle[2]:.2f} | {middle[3]:,.0f} |")
    ratios = [ratio_of([max(getattr(b, field), 1e-9) / max(getattr(a, field), 1e-9)
                        for a, b in zip(figures["native"], figures["plumb watch"])])
              for field in fields]
    print("| plumb watch / native | " + " | ".join(str(ratio) for ratio in ratios) + " |",
          flush=True)


def main() -> int:
    plumb = Path(sys.argv[1]).resolve()
    wanted = sys.argv[2:] or ["programs", "redis", "lighttpd"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "programs" in wanted:
            whole_programs(plumb, folder)
        for server_name, command, load, needs in (
                ("redis", redis_command, redis_load, ("redis-server", "redis-benchmark")),
                ("lighttpd", lighttpd_command, lighttpd_load, ("lighttpd", "wrk"))):
            if server_name not in wanted:
                continue
            if all(shutil.which(word) for word in needs):
                server(plumb, folder, server_name, command(folder), load, server_name == "redis")
            else:
                print(f"\nNo {server_name} here: it was not measured.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
