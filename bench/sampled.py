#!/usr/bin/env python3
"""What `plumb watch` costs: whole programs, and servers under load.

sampled.py PLUMB [--part=programs|peers|redis|lighttpd] [--seconds=N] [--rounds=N]
                 [--table] [--fresh]

Programs: CPU time and peak memory as ratios to native, in interleaved rounds;
mean of the logarithms, with its 95% interval. The watched program alone is
measured, as a server in production would feel it: the report is made
afterwards, by another process. Servers: redis-server with redis-benchmark and
lighttpd with wrk, on loopback, in rounds as well: throughput, p99 latency, CPU
time per request, resident memory. What is not installed is left out.

A part takes --seconds at most (three rounds at least) and appends to
build/bench/sampled.jsonl, from which --table prints; without --part all are made,
one after the other.
"""

import csv
import glob
import io
import os
import re
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
from record import Ratio, Record, by_round, rounds

MOST_ROUNDS = 15
SECONDS = {"programs": 400, "peers": 400, "redis": 400, "lighttpd": 300}
PORT = 17391
REQUESTS = 60_000
WATCH = "plumb watch"
RECORD = Record("sampled")


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


# Rounds of the programs below that take two seconds and more.
LONG = {"1_000_000": "3_000_000", "1_500_000": "2_800_000", "300000": "700000",
        "1500000": "5000000", "400000": "900000"}


def programs(folder: Path, live: int = 30000, long: bool = False) -> dict[str, list[str]]:
    """Half a second or more each, or two: start-up is not what is measured. `live` is
    how many of their objects are alive at a time."""
    def sized(text: str) -> str:
        for short, longer in LONG.items() if long else ():
            text = re.sub(rf"\b{short}\b", longer, text)
        return re.sub(r"\b30000\b", str(live), text)

    texts = {"a.pl": PERL, "a.py": PYTHON, "a.lua": LUA, "a.sql": SQL}
    for name, text in texts.items():
        (folder / name).write_text(sized(text))
    lines = folder / "lines"
    lines.write_text("".join(f"{i * 7919 % 1000003} some text {i}\n"
                             for i in range(2_200_000 if long else 1_500_000)))
    commands = {
        "perl": ["perl", str(folder / "a.pl")],
        "python3": ["/usr/bin/python3", "-S", str(folder / "a.py")],
        "lua": ["lua5.4", str(folder / "a.lua")],
        "mawk": ["mawk", sized(AWK)],
        "sqlite3": ["sqlite3", "-init", str(folder / "a.sql"), ":memory:", ".quit"],
        "sort": ["sort", "--parallel=2", "-S", "200M", str(lines)],
    }
    return {name: command for name, command in commands.items() if shutil.which(command[0])}


@dataclass
class Run:
    cpu: float
    peak_kb: int  # of the process itself
    output: bytes


def run_once(command: list[str], env: dict[str, str], stdin: Path | None = None) -> Run:
    """The peak is read while it runs: what wait4 says is never less than ours."""
    with tempfile.TemporaryFile() as output, open(stdin or os.devnull, "rb") as text:
        process = subprocess.Popen(command, env={**os.environ, **env}, stdout=output,
                                   stderr=subprocess.DEVNULL, stdin=text)
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


def tools_of(part: str, plumb: Path, folder: Path) -> dict[str, dict[str, str] | None]:
    all_tools = environments(plumb, folder)
    if part == "programs":
        return {name: all_tools[name] for name in ("native", WATCH)}
    if part == "peers":
        return all_tools
    # Servers: heaptrack is a command, which would be taken for the server.
    return {name: env for name, env in all_tools.items() if env is not None}


def in_turn(names, number: int) -> list[str]:
    """Who is first takes turns."""
    names = list(names)
    return names[number % len(names):] + names[:number % len(names)]


def next_round(part: str) -> int:
    return max([row["round"] + 1 for row in RECORD.rows(part)], default=0)


def measure_programs(part: str, plumb: Path, folder: Path, most: tuple[float, int]) -> None:
    tools = tools_of(part, plumb, folder)
    commands = programs(folder, long=True)
    first = next_round(part)
    for number in rounds(*most):
        for program, command in commands.items():
            runs = {name: run_program(command, tools[name], folder)
                    for name in in_turn(tools, number)}
            for name, run in runs.items():
                RECORD.add(part, round=first + number, program=program, tool=name, cpu=run.cpu,
                           peak=run.peak_kb, same=tools[name] is None
                           or run.output == runs["native"].output)


def program_ratios(part: str, tool: str, field: str) -> dict[str, list[float]]:
    """Program -> ratios to native, round by round."""
    rows = RECORD.rows(part)
    values = {(row["round"], row["program"], row["tool"]): row[field] for row in rows
              if row["same"]}
    found: dict[str, list[float]] = {}
    for row in rows:
        key = (row["round"], row["program"])
        if row["tool"] == tool and (*key, tool) in values and (*key, "native") in values:
            found.setdefault(row["program"], []).append(values[*key, tool] / values[*key, "native"])
    return found


def print_programs() -> None:
    times = program_ratios("programs", WATCH, "cpu")
    memory = program_ratios("programs", WATCH, "peak")
    if not times:
        return
    rows = RECORD.rows("programs")

    def fastest(program: str, tool: str) -> float:
        return min(row["cpu"] for row in rows if (row["program"], row["tool"]) == (program, tool))

    made = min(len(ratios) for ratios in times.values())
    print(f"\n{made} pairs, CPU time and peak memory of `plumb watch` over native, with 95% "
          "intervals; beside it the fastest run of each, which other work disturbs least\n")
    print("| program | fastest native, s | time | fastest | memory |")
    print("|---|---|---|---|---|")
    best = {}
    for program in times:
        best[program] = fastest(program, WATCH) / fastest(program, "native")
        print(f"| {program} | {fastest(program, 'native'):.2f} | {Ratio(times[program])} "
              f"| {best[program]:.3f} | {statistics.median(memory[program]):.3f} |")
    means = [measure.geometric_mean([times[p][i] for p in times]) for i in range(made)]
    print(f"| geometric mean | | {Ratio(means)} | {measure.geometric_mean(list(best.values())):.3f} "
          f"| {measure.geometric_mean([statistics.median(m) for m in memory.values()]):.3f} |")
    print(f"| worst | | {max(Ratio(r).mean for r in times.values()):.3f} | {max(best.values()):.3f} "
          f"| {max(statistics.median(m) for m in memory.values()):.3f} |", flush=True)


def print_peers() -> None:
    rows = RECORD.rows("peers")
    names = list(dict.fromkeys(row["tool"] for row in rows if row["tool"] != "native"))
    if not names:
        return
    made = len({row["round"] for row in rows})
    print(f"\nPeers on the same programs, {made} rounds: CPU time, peak memory over native\n")
    print("| program | " + " | ".join(names) + " |")
    print("|---|" + "---|" * len(names))
    times = {name: program_ratios("peers", name, "cpu") for name in names}
    memory = {name: program_ratios("peers", name, "peak") for name in names}
    for program in dict.fromkeys(row["program"] for row in rows):
        cells = []
        for name in names:
            if program not in times[name]:
                cells.append("other output")
                continue
            # The peak of heaptrack's command is not the program's.
            peak = "" if name == "heaptrack" else \
                f", {statistics.median(memory[name][program]):.2f}"
            cells.append(f"{Ratio(times[name][program]).mean:.2f}{peak}")
        print(f"| {program} | " + " | ".join(cells) + " |", flush=True)
    print("| geometric mean | " + " | ".join(
        f"{measure.geometric_mean([Ratio(r).mean for r in times[name].values()]):.2f}"
        if times[name] else "-" for name in names) + " |")


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


SERVERS = {
    "redis": (redis_command, redis_load, ("redis-server", "redis-benchmark")),
    "lighttpd": (lighttpd_command, lighttpd_load, ("lighttpd", "wrk")),
}


def measure_server(part: str, plumb: Path, folder: Path, most: tuple[float, int]) -> None:
    make_command, load, needs = SERVERS[part]
    if not all(shutil.which(word) for word in needs):
        print(f"\nNo {part} here: it was not measured.")
        return
    tools = tools_of(part, plumb, folder)
    command = make_command(folder)
    watched = [str(plumb), "watch", f"--output={folder}/report", "--"]
    first = next_round(part)

    def measured(tool: str, number: int) -> None:
        env = {} if tool == WATCH else tools[tool]
        try:
            with Server(command, watched if tool == WATCH else [], env) as running:
                figures = load(running)
        except (RuntimeError, StopIteration, subprocess.CalledProcessError):
            print(f"{part} did not answer: {tool}", file=sys.stderr)
            return
        RECORD.add(part, round=first + number, tool=tool, **vars(figures))

    for number in rounds(*most):
        for tool in in_turn(("native", WATCH), number):
            measured(tool, number)
        # Peers in every third round.
        for tool in tools:
            if number % 3 == 0 and tool not in ("native", WATCH):
                measured(tool, number)


def print_server(part: str) -> None:
    rows = RECORD.rows(part)
    pairs = by_round([row for row in rows if row["tool"] in ("native", WATCH)], "tool")
    if not pairs:
        return
    print(f"\n{part}, {len(pairs) // 2} pairs; medians\n")
    print("| server | requests/s | p99, ms | CPU per request, us | resident, kB |")
    print("|---|---|---|---|---|")
    fields = ("rate", "late", "cpu", "resident")
    for tool in dict.fromkeys(row["tool"] for row in rows):
        middle = [statistics.median(row[field] for row in rows if row["tool"] == tool)
                  for field in fields]
        print(f"| {tool} | {middle[0]:,.0f} | {middle[1]:.2f} | {middle[2]:.2f} | {middle[3]:,.0f} |")
    values = {(row["round"], row["tool"]): row for row in pairs}
    numbers = sorted({row["round"] for row in pairs})
    ratios = [Ratio([max(values[n, WATCH][field], 1e-9) / max(values[n, "native"][field], 1e-9)
                     for n in numbers]) for field in fields]
    print("| plumb watch / native | " + " | ".join(str(ratio) for ratio in ratios) + " |",
          flush=True)


def main() -> int:
    plumb = Path(sys.argv[1]).resolve()
    options = dict(word.removeprefix("--").partition("=")[::2] for word in sys.argv[2:])
    if "fresh" in options:
        RECORD.forget()
    if "table" not in options:
        with tempfile.TemporaryDirectory() as name:
            for part in [options["part"]] if "part" in options else SECONDS:
                most = (float(options.get("seconds", SECONDS[part])),
                        int(options.get("rounds", MOST_ROUNDS)))
                make = measure_server if part in SERVERS else measure_programs
                make(part, plumb, Path(name), most)
    print_programs()
    print_peers()
    for part in SERVERS:
        print_server(part)
    return 0


if __name__ == "__main__":
    sys.exit(main())
