#!/usr/bin/env python3
"""What `plumb cc -fplumb=sampled` costs: the checks alone, and the whole of it.

bursts.py PLUMB [--only=NAME,...] [--seconds=N] [--rounds=N] [--work=DIR]
                [--build] [--table] [--fresh]

Programs of `./dev bench compiled` and redis-server under redis-benchmark, at -O2 by
clang 19. CPU time over native in interleaved rounds with 95% intervals: built so but
not watched (the checks), and watched with checks that fall to 0.1% and to 0.01%
(decrease=10, burst=10); peak memory likewise, and how much the hot code grew. Each
round has another layout of the code (bench/layouts.py).

Appends to build/bench/bursts.jsonl, from which the table is printed: rounds of
several runs add up. Builds are kept in --work (build/bench/bursts); --build does
nothing else.
"""

import statistics
import sys
import tempfile
from pathlib import Path

import measure
import sampled
from layouts import Layouts, code_size
from record import FOLDER, Ratio, Record, rounds

MOST_ROUNDS = 15
SECONDS = 400
LAYOUTS = 5
DEFAULT = ["machine", "tree", "words", "shapes", "bzip2", "gzip", "diff", "lua", "tcc", "tinyxml2",
           "pugixml", "jsoncpp", "redis"]
RECORD = Record("bursts")
LEAST = ("least=0.1%", "least=0.01%")


def tools_of(plumb: str, folder: Path) -> dict[str, dict[str, str]]:
    watched = sampled.environments(Path(plumb), folder)[sampled.WATCH]
    return {"checks": {},
            **{least: {**watched, "PLUMB_OPTIONS": f"decrease=10:burst=10:{least}"}
               for least in LEAST}}


def run_server(binary: Path, env: dict[str, str], folder: Path) -> sampled.Run:
    command = [str(binary), *sampled.redis_command(folder)[1:]]
    with sampled.Server(command, [], env) as server:
        load = sampled.redis_load(server)
    return sampled.Run(load.cpu, int(load.resident), b"")


def run_one(layouts: Layouts, name: str, binary: Path, env: dict[str, str], folder: Path) -> sampled.Run:
    if name == "redis":
        return run_server(binary, env, folder)
    return sampled.run_once([str(binary), *layouts.arguments(name)], env, layouts.stdin(name))


def measure_all(plumb: str, layouts: Layouts, folder: Path, names: list[str],
                most: tuple[float, int]) -> None:
    tools = tools_of(plumb, folder)
    first = max([row["round"] + 1 for row in RECORD.rows("run")], default=0)
    for number in rounds(*most):
        for name in names:
            layout = (first + number) % LAYOUTS
            native, traced = (layouts.binary(name, kind, layout) for kind in (False, True))
            before, (hot, cold) = code_size(native)[0], code_size(traced)
            base = run_one(layouts, name, native, {}, folder)
            for tool in sampled.in_turn(tools, number):
                run = run_one(layouts, name, traced, tools[tool], folder)
                if run.output != base.output:
                    sys.exit(f"bench: {name} behaves differently with {tool}")
                RECORD.add("run", round=first + number, program=name, tool=tool,
                           native=base.cpu, time=run.cpu / base.cpu,
                           memory=run.peak_kb / base.peak_kb, hot=hot / before, cold=cold / before)


def print_table() -> None:
    rows = RECORD.rows("run")
    if not rows:
        return
    tools = ["checks", *LEAST]
    names = list(dict.fromkeys(row["program"] for row in rows))

    def values(program: str, tool: str, field: str) -> list[float]:
        return [row[field] for row in rows if row["program"] == program and row["tool"] == tool]

    made = min(len(values(program, tool, "time")) for program in names for tool in tools)
    print(f"\n{made} rounds at least, CPU time over native, with 95% intervals\n")
    print("| program | native, s | " + " | ".join(tools) + " | memory, 0.1% | hot code | cold code |")
    print("|---|---|" + "---|" * (len(tools) + 3))
    for program in names:
        native = min(values(program, "checks", "native"))
        shown = "" if program == "redis" else f"{native:.2f}"
        print(f"| {program} | {shown} | "
              + " | ".join(str(Ratio(values(program, tool, "time"))) for tool in tools)
              + f" | {statistics.median(values(program, LEAST[0], 'memory')):.3f}"
              + f" | {values(program, 'checks', 'hot')[-1]:.2f}x"
              + f" | {values(program, 'checks', 'cold')[-1]:.2f}x |")
    means = {tool: [measure.geometric_mean([values(p, tool, "time")[i] for p in names])
                    for i in range(made)] for tool in tools}
    memory = measure.geometric_mean([statistics.median(values(p, LEAST[0], "memory")) for p in names])
    print("| geometric mean | | " + " | ".join(str(Ratio(means[t])) for t in tools)
          + f" | {memory:.3f} | | |", flush=True)


def main() -> int:
    plumb = str(Path(sys.argv[1]).resolve())
    options = dict(word.removeprefix("--").partition("=")[::2] for word in sys.argv[2:])
    if "fresh" in options:
        RECORD.forget()
    if "table" not in options:
        names = options["only"].split(",") if options.get("only") else DEFAULT
        most = (float(options.get("seconds", SECONDS)), int(options.get("rounds", MOST_ROUNDS)))
        work = Path(options.get("work", FOLDER / "bursts")).resolve()
        work.mkdir(parents=True, exist_ok=True)
        layouts = Layouts(plumb, work)
        if "build" in options:
            for name in names:
                for kind in (False, True):
                    for layout in range(LAYOUTS):
                        layouts.binary(name, kind, layout)
            return 0
        with tempfile.TemporaryDirectory() as name:
            measure_all(plumb, layouts, Path(name), names, most)
    print_table()
    return 0


if __name__ == "__main__":
    sys.exit(main())
