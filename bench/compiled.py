#!/usr/bin/env python3
"""What a program built by `plumb cc` costs beside other tools, as ratios to native.

usage: compiled.py PLUMB [--only=NAME,...] [--tools=NAME,...] [--work=DIR]
                   [--record=FILE] [--build] [--table]

CPU time (the best of three interleaved rounds; one for the slow tools) and peak
memory, at -O2 -g by clang 19 (LSan gcc: by gcc). It can be done in parts: --only
takes some programs, --tools some tools, --build only builds (into --work, which is
then used), --record keeps the rows in a file, and the table is that of all parts;
--table only prints it. Each part measures native, too, beside what it measures.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import launched
import measure
from compiled_programs import HERE, PROGRAMS, Program, filled, write_inputs
from packages import KEEP, source_of
from rows import Rows

ROUNDS = 3
SPARE_KB = 4096  # of memory, that every program may cost
# Compiler, prefix of the command, rounds; a tool without a compiler runs native's binary.
TOOLS = {
    "native": (["clang-19"], [], ROUNDS),
    "minimal": (["PLUMB", "-fplumb=minimal"], [], ROUNDS),
    "partial": (["PLUMB", "-fplumb=partial"], [], ROUNDS),
    "full": (["PLUMB"], [], ROUNDS),
    "LSan": (["clang-19", "-fsanitize=leak"], [], ROUNDS),
    "LSan gcc": (["gcc", "-fsanitize=leak"], [], ROUNDS),
    "ASan": (["clang-19", "-fsanitize=address"], [], ROUNDS),
    "heaptrack": ([], ["heaptrack", "-o", "{folder}/heaptrack"], 1),
    # Valgrind does not read what clang 19 writes by default.
    "memcheck": (["clang-19", "-gdwarf-4"], ["valgrind", "-q", "--leak-check=full"], 1),
}
SECOND = {"clang-19": "clang++-19", "gcc": "g++"}


def compiler_of(tool: str, plumb: str, program: Program) -> list[str]:
    command = list(TOOLS[tool][0])
    if command[0] == "PLUMB":
        command[0] = f"{plumb}-c++" if program.language == "C++" else f"{plumb}-cc"
    elif program.language == "C++":
        command[0] = SECOND[command[0]]
    return command


class Bench:
    def __init__(self, plumb: str, work: Path):
        self.plumb = plumb
        self.work = work
        self.conf: list[Path] = []
        self.launcher = launched.Launcher(work)
        if not (work / "large.c").exists():
            write_inputs(work)

    def source(self, program: Program) -> Path:
        """The program's source, prepared."""
        if not program.package:
            return HERE / "compiled"
        # In its place from the start: configure writes down where it was.
        prepared = self.work / f"prepared-{program.package}"
        done_with = self.work / f"prepared-{program.package}.done"
        if done_with.exists():
            return prepared
        shutil.rmtree(prepared, ignore_errors=True)
        shutil.copytree(source_of(program.package, self.work, self.conf), prepared, symlinks=True)
        for name, text in program.written.items():
            (prepared / name).write_text(text)
        for command in program.prepare:
            extra = KEEP if command[0] == "make" else program.configured
            done = measure.run(["env", "-C", str(prepared), *command, *extra])
            if done.status != 0:
                raise RuntimeError(f"{program.package}: {' '.join(command)}: "
                                   f"{done.stderr.decode(errors='replace')[-400:]}")
        done_with.touch()
        return prepared

    def binary(self, name: str, tool: str) -> tuple[Path, float]:
        """The program built for the tool, and the CPU seconds that it took (0: it was there)."""
        program = PROGRAMS[name]
        if not TOOLS[tool][0]:
            tool = "native"
        label = name.replace(", ", "-").replace(" ", "") + "-" + tool.replace(" ", "-")
        out = self.work / label
        if out.exists():
            return (out / program.binary if program.make else out), 0.0
        source = self.source(program)
        compiler = compiler_of(tool, self.plumb, program)
        if program.make:
            shutil.copytree(source, out, symlinks=True)
            command = ["make", "-C", str(out), f"CC={' '.join(compiler)}", "CFLAGS=-O2 -g",
                       *program.make[1:], *KEEP]
        else:
            files = [str(p) for pattern in program.files for p in sorted(source.glob(pattern))
                     if str(p.relative_to(source)) not in program.without]
            flags = [flag.format(source=source) for flag in program.flags]
            command = [*compiler, "-O2", "-g", "-w", *files, "-o", str(out), *flags]
        done = measure.run(command)
        if done.status != 0:
            shutil.rmtree(out, ignore_errors=True)
            raise RuntimeError(f"{name}, {tool}: {done.stderr.decode(errors='replace')[-400:]}")
        return (out / program.binary if program.make else out), done.cpu

    def run(self, name: str, tool: str) -> launched.Launched:
        program = PROGRAMS[name]
        words = {"folder": self.work, "source": self.work / f"prepared-{program.package}"}
        prefix = [filled(word, words) for word in TOOLS[tool][1]]
        arguments = [filled(word, words) for word in program.arguments]
        return self.launcher.run([*prefix, str(self.binary(name, tool)[0]), *arguments],
                                 {"ASAN_OPTIONS": "detect_leaks=1"},
                                 self.work / program.stdin if program.stdin else None)

    def measured(self, name: str, tools: list[str], row: dict) -> dict:
        best = {tool: float("inf") for tool in ["native", *tools]}
        peak = dict.fromkeys(best, 0)
        expected = None
        for round_ in range(ROUNDS):
            for tool in best:
                if round_ >= TOOLS[tool][2]:
                    continue
                done = self.run(name, tool)
                if tool == "native":
                    expected = expected or (done.status, done.stdout)
                # heaptrack talks on standard output; leaks give the sanitizers a status.
                elif tool != "heaptrack" and done.stdout != expected[1]:
                    raise RuntimeError(f"{name} behaves differently under {tool}")
                elif tool in ("minimal", "partial", "full") and done.status != expected[0]:
                    raise RuntimeError(f"{name} ends differently under {tool}")
                best[tool] = min(best[tool], done.cpu)
                peak[tool] = max(peak[tool], done.peak_kb)
        for tool in tools:
            row[tool] = {"time": best[tool] / best["native"],
                         "memory": peak[tool] / peak["native"],
                         "spared": max(peak[tool] - SPARE_KB, peak["native"]) / peak["native"]}
        row["native"] = best["native"]
        return row


def code_size(path: Path) -> int:
    words = subprocess.run(["size", str(path)], capture_output=True, text=True).stdout.split()
    return int(words[6])


def print_table(rows: dict[str, dict]) -> None:
    tools = [tool for tool in TOOLS if tool != "native" and any(tool in r for r in rows.values())]
    print("\n| program | native, s | " + " | ".join(tools) + " |")
    print("|---|---|" + "---|" * len(tools))
    for name in (n for n in PROGRAMS if "native" in rows.get(n, {})):
        row = rows[name]
        cells = [f"{row[t]['time']:.2f}x, {row[t]['memory']:.2f}x" if t in row else ""
                 for t in tools]
        print(f"| {name} | {row['native']:.2f} | " + " | ".join(cells) + " |")
    # The small ones of ours have bars of their own and are not in the mean.
    others = [{**row, "leaks": PROGRAMS[name].leaks} for name, row in rows.items()
              if PROGRAMS[name].package]
    for label, key in (("time", "time"), ("memory less 4 MB", "spared")):
        cells = []
        for tool in tools:
            values = [row[tool][key] for row in others
                      if tool in row and not (key == "spared" and row["leaks"])]
            cells.append(f"{measure.geometric_mean(values):.2f}x" if values else "")
        print(f"| geometric mean, {label} of the packages | | " + " | ".join(cells) + " |")
    print("\nCPU time, then peak memory, as ratios to native.")
    built = [row["compiling"] for row in rows.values() if row.get("compiling")]
    if built:
        print(f"Compiling with `full`: {measure.geometric_mean([b['time'] for b in built]):.2f}x "
              f"clang's time, {measure.geometric_mean([b['size'] for b in built]):.2f}x the code "
              f"(text of `size`), over {len(built)} programs.")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("plumb")
    parser.add_argument("--only", default="")
    parser.add_argument("--tools", default="")
    parser.add_argument("--work")
    parser.add_argument("--record")
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    # A comma is in a name as well: "churn, 8 threads" is asked for as threads.
    asked = [name for name in options.only.split(",") if name]
    names = ["churn, 8 threads" if name == "threads" else name for name in asked] or list(PROGRAMS)
    tools = [tool for tool in options.tools.split(",") if tool]
    tools = tools or [tool for tool in TOOLS if tool != "native"]
    for name in [*names, *tools]:
        if name not in PROGRAMS and name not in TOOLS:
            parser.error(f"no program or tool {name}; there are {', '.join([*PROGRAMS, *TOOLS])}")
    record = Rows(options.record)
    failed = False
    work = Path(options.work or tempfile.mkdtemp(prefix="plumb-compiled-")).resolve()
    work.mkdir(parents=True, exist_ok=True)
    bench = Bench(str(Path(options.plumb).resolve()), work)
    for name in [] if options.table else names:
        row = record.rows.get(name, {})
        try:
            spent = {tool: bench.binary(name, tool) for tool in ["native", *tools]}
            if spent["native"][1] and spent.get("full", (0, 0))[1]:
                row["compiling"] = {
                    "time": spent["full"][1] / spent["native"][1],
                    "size": code_size(spent["full"][0]) / code_size(spent["native"][0])}
            if not options.build:
                row = bench.measured(name, tools, row)
            record.put(name, row)
        except (RuntimeError, subprocess.CalledProcessError) as problem:
            print(f"bench: {problem}", file=sys.stderr)
            failed = True
    if not options.work:
        shutil.rmtree(work, ignore_errors=True)
    if not options.build:
        print_table(record.rows)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
