#!/usr/bin/env python3
"""Compares engines and peers on generated programs whose truth is known.

    compare.py --plumb=build/dev/bin/plumb --seeds=1..20 --engines=run,memcheck,lsan

Each seed gives one C and one C++ program; compilers and optimisation levels
take turns, so that a slice sees them all. Peers are printed beside ours and do
not decide the exit status, except that memcheck must see no memory error: a
generated program with one would prove nothing.
Exit status: 0, or 1 when an engine of ours raised a false alarm, changed the
program, or found less than --min-recall of the losses; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "runner"))

from build import BuildError, Config, configs  # noqa: E402
from cases import read_case  # noqa: E402
from engines import Engine, Program, make_engines, run_native, start  # noqa: E402
from generate import write_program  # noqa: E402
from judge import Judge, Verdict  # noqa: E402
from observed import EngineError  # noqa: E402

UNDEFINED = ("-fsanitize=undefined", "-fno-sanitize-recover=all")

Job = tuple[int, str, Config]  # a seed, a language, how it is compiled

@dataclass
class Tally:
    """One engine over all programs."""

    programs: int = 0
    right: dict[str, int] = field(default_factory=dict)
    judged: dict[str, int] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)  # each wrong answer
    broken: int = 0  # programs on which the engine itself failed

    def add(self, verdicts: list[Verdict], where: str) -> None:
        self.programs += 1
        for verdict in verdicts:
            self.judged[verdict.aspect] = self.judged.get(verdict.aspect, 0) + 1
            self.right[verdict.aspect] = self.right.get(verdict.aspect, 0) + verdict.passed
            if not verdict.passed:
                label = f"({verdict.label})" if verdict.label else ""
                self.remarks.append(f"{where} {verdict.aspect}{label}: {verdict.detail}")

    def wrong(self, aspect: str) -> int:
        return self.judged.get(aspect, 0) - self.right.get(aspect, 0)

    def add_broken(self, why: str, where: str) -> None:
        self.broken += 1
        self.remarks.append(f"{where} {why}")

    def recall(self) -> float:
        return self.right.get("found", 0) / max(1, self.judged.get("found", 0))


def examine(seed: int, lang: str, config: Config, engines: list[Engine], folder: Path,
            undefined: bool) -> list[tuple[str, list[Verdict] | str]]:
    """Per engine its verdicts, or why it has none."""
    source = write_program(seed, lang, folder / "source")
    case = read_case(source)
    program = Program(source, tuple(case.flags), (), config, folder)
    native = run_native(program)
    if native.status != 0:
        raise EngineError(f"{source.name} ends with {native.status}")
    if undefined:
        _, status, _, err = start([str(program.build(UNDEFINED))])
        if status != 0 or err:
            raise EngineError(f"{source.name}: undefined behaviour: {err.decode()[:200]}")
    results: list[tuple[str, list[Verdict] | str]] = []
    for engine in engines:
        try:
            seen = engine.examine(program)
        except (BuildError, EngineError) as error:
            results.append((engine.name, str(error)))
            continue
        if seen.errors:
            raise EngineError(f"{source.name}: memory errors: {seen.errors}")
        judge = Judge(source, case.truth, engine.claims | engine.measures, config.optimised,
                      engine.counts_direct, not engine.is_static)
        if not engine.is_static:
            judge.add("status", None,
                      seen.status == native.status and seen.stdout == native.stdout,
                      f"status {seen.status}, by itself {native.status}")
        results.append((engine.name, judge.judge(seen)))
    return results


def examine_all(jobs: list[Job], engines: list[Engine], folder: Path, undefined: bool,
                workers: int) -> Iterator[tuple[Job, str, list[tuple[str, list[Verdict] | str]] | str]]:
    """Each job in its order, a name for it, and what came of it; a text: the program is unfit."""
    def one(job: Job) -> list[tuple[str, list[Verdict] | str]] | str:
        try:
            return examine(*job, engines, folder, undefined)
        except (BuildError, EngineError) as error:
            return str(error)

    with ThreadPoolExecutor(workers) as pool:
        for job, outcome in zip(jobs, pool.map(one, jobs), strict=True):
            seed, lang, config = job
            yield job, f"seed {seed} {lang} [{config}]", outcome


def parse_seeds(text: str) -> range:
    first, dots, last = text.partition("..")
    return range(int(first), int(last if dots else first) + 1)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plumb", type=Path)
    parser.add_argument("--seeds", type=parse_seeds, default=range(1, 11), metavar="A..B")
    parser.add_argument("--engines", default="run,memcheck,lsan")
    parser.add_argument("--langs", default="c,c++")
    parser.add_argument("--compilers", default="gcc,clang-19")
    parser.add_argument("--opt", default="-O0,-O2")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--min-recall", type=float, default=1.0)
    parser.add_argument("--undefined", action="store_true",
                        help="also run each program with the undefined-behaviour sanitizer")
    parser.add_argument("--build-dir", type=Path, default=Path("build/generated"))
    parser.add_argument("--results", type=Path, help="write them here as JSON")
    return parser.parse_args()


def table(tallies: dict[str, Tally]) -> str:
    rows = [["engine", "programs", "losses", "found", "recall", "false alarms", "size", "alloc",
             "place", "failed"]]
    for name, tally in tallies.items():
        def ratio(aspect: str, tally: Tally = tally) -> str:
            judged = tally.judged.get(aspect, 0)
            return f"{tally.right[aspect]}/{judged}" if judged else "-"
        rows.append([name, str(tally.programs), str(tally.judged.get("found", 0)),
                     str(tally.right.get("found", 0)), f"{tally.recall():.1%}",
                     str(tally.wrong("false-alarm")), ratio("size"), ratio("alloc"),
                     ratio("place"), str(tally.broken)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
                     for row in rows)


def main() -> int:
    options = parse_arguments()
    try:
        engines = make_engines(options.engines, options.plumb)
        order = configs(options.compilers, options.opt)
    except (BuildError, EngineError) as error:
        print(f"compare: error: {error}", file=sys.stderr)
        return 2
    for engine in list(engines):
        if why := engine.unavailable():
            print(f"compare: {engine.name} left out: {why}", file=sys.stderr)
            engines.remove(engine)
            if not engine.is_peer:
                return 2

    jobs = [(seed, lang, order[(seed * 2 + i) // 2 % len(order)])
            for seed in options.seeds for i, lang in enumerate(options.langs.split(","))]
    tallies = {engine.name: Tally() for engine in engines}
    failed = False

    for _, where, outcome in examine_all(jobs, engines, options.build_dir.resolve(),
                                         options.undefined, options.jobs):
        if isinstance(outcome, str):
            print(f"FAIL {where} {outcome}")
            failed = True
            continue
        for name, verdicts in outcome:
            if isinstance(verdicts, str):
                tallies[name].add_broken(verdicts, where)
            else:
                tallies[name].add(verdicts, where)

    for name, tally in tallies.items():
        for remark in tally.remarks:
            print(f"{name}: {remark}")
    print(table(tallies))
    if options.results:
        options.results.write_text(
            json.dumps({name: asdict(tally) for name, tally in tallies.items()}, indent=1) + "\n")
    for engine in engines:
        tally = tallies[engine.name]
        if not engine.is_peer:
            failed |= bool(tally.broken or tally.wrong("false-alarm") or tally.wrong("status")
                           or tally.recall() < options.min_recall)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
