#!/usr/bin/env python3
"""Holds an engine to the annotated cases, strictly both ways.

    run_cases.py --plumb=build/dev/bin/plumb --engine=run

Each case is compiled for each configuration, run alone and run by the engine.
An aspect that the engine claims must be right, unless the case has a GAP for
it, and then it must be wrong: a gap that closed is removed, not forgotten.
Exit status: 0 all as annotated, 1 something is not, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import re
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

from build import BuildError, Config, configs
from cases import Case, CaseError, Gap, read_corpus
from engines import Engine, Program, make_engines, run_native
from judge import Judge, Verdict
from observed import EngineError
from truth import ASPECTS

HERE = Path(__file__).resolve().parent


@dataclass
class Result:
    """One case in one configuration."""

    case: str
    config: Config
    verdicts: list[Verdict] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)  # what is not as annotated
    gaps: int = 0
    closed_gaps: int = 0

    def ratio(self, aspect: str) -> tuple[int, int]:
        mine = [v for v in self.verdicts if v.aspect == aspect]
        return sum(v.passed for v in mine), len(mine)


def reconcile(result: Result, gaps: list[Gap], measured: frozenset[str] = frozenset()) -> None:
    """Compares the verdicts with the gaps; fills failures and the gap counts.

    A wrong answer about a `measured` aspect is no failure.
    """
    used: set[Gap] = set()
    for verdict in result.verdicts:
        if verdict.passed:
            continue
        gap = next((g for g in gaps if g.aspect == verdict.aspect
                    and g.label in (None, verdict.label)), None)
        if gap:
            used.add(gap)
        elif verdict.aspect not in measured:
            label = f"({verdict.label})" if verdict.label else ""
            result.failures.append(f"{verdict.aspect}{label}: {verdict.detail}")
    result.gaps = len(used)
    for gap in gaps:
        if gap not in used:
            result.closed_gaps += 1
            result.failures.append(f"the gap of line {gap.line} ({gap.aspect}) no longer fails")


def run_case(case: Case, config: Config, engine: Engine, folder: Path) -> Result:
    result = Result(case.name, config)
    program = Program(case.path, tuple(case.flags), tuple(case.args), config, folder)
    native = None
    try:
        if not engine.is_static:
            native = run_native(program)
            if native.status != case.status:
                raise EngineError(f"by itself it ends with {native.status}, not {case.status}")
        seen = engine.examine(program)
    except (BuildError, EngineError) as error:
        result.failures.append(str(error))
        return result
    judge = Judge(case.path, case.truth, engine.claims | engine.measures, config.optimised,
                  engine.counts_direct, not engine.is_static)
    if native:
        judge.add("status", None, seen.status == native.status and seen.stdout == native.stdout,
                  f"status {seen.status} instead of {native.status}"
                  if seen.status != native.status else "standard output differs")
    result.verdicts = judge.judge(seen)
    reconcile(result, case.gaps_for(engine.name, config.compiler, config.opt),
              engine.measures)
    result.failures += [f"memory error: {error}" for error in seen.errors]
    return result


def table(results: list[Result], engine: Engine, order: list[Config]) -> str:
    """Per configuration: right answers of those judged, aspect by aspect."""
    columns = [a for a in ASPECTS if a in engine.claims | engine.measures]
    names = ["false alarms" if a == "false-alarm" else a for a in columns]
    head = ["configuration", "cases", *names, "gaps", "closed gaps", "failed"]
    rows = [head]
    for config in order:
        mine = [r for r in results if r.config == config]
        cells = [str(config), str(len(mine))]
        for aspect in columns:
            right, judged = (sum(n) for n in zip(*(r.ratio(aspect) for r in mine), strict=True))
            # For false alarms the wrong ones are the figure.
            cells.append(str(judged - right) if aspect == "false-alarm" else f"{right}/{judged}")
        cells += [str(sum(r.gaps for r in mine)), str(sum(r.closed_gaps for r in mine)),
                  str(sum(bool(r.failures) for r in mine))]
        rows.append(cells)
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
                     for row in rows)


def select(corpus: list[Case], globs: str) -> list[Case]:
    return [case for case in corpus
            if any(fnmatch.fnmatchcase(case.name, glob) for glob in globs.split(","))]


def share_of(corpus: list[Case], share: str) -> list[Case]:
    """The I-th of N shares, drawn by name so that new cases move no others; twins stay together."""
    which, _, count = share.partition("/")
    if not (which.isdigit() and count.isdigit() and 1 <= int(which) <= int(count)):
        raise ValueError(f"--share={share}: expected I/N, such as 1/3")
    return [case for case in corpus
            if zlib.crc32(re.sub(r"_(bad|ok)$", "", case.name).encode()) % int(count)
            == int(which) - 1]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plumb", type=Path, help="the command to test")
    parser.add_argument("--engine", default="run", help="run, cc, watch, check, memcheck or lsan")
    parser.add_argument("--compilers", default="gcc,clang-19")
    parser.add_argument("--opt", default="-O0,-O2")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--filter", default="*", metavar="GLOB",
                        help="names of cases; several with commas")
    parser.add_argument("--share", default="1/1", metavar="I/N", help="one of N shares of the cases")
    parser.add_argument("--cases", type=Path, default=HERE.parent / "cases", help="folder")
    parser.add_argument("--build-dir", type=Path, default=Path("build/cases"))
    parser.add_argument("--results", type=Path, help="write them here as JSON")
    return parser.parse_args()


def main() -> int:
    options = parse_arguments()
    try:
        corpus = share_of(select(read_corpus(options.cases), options.filter), options.share)
        order = configs(options.compilers, options.opt)
        [engine] = make_engines(options.engine, options.plumb)
    except (CaseError, BuildError, EngineError, OSError, ValueError) as error:
        print(f"run_cases: error: {error}", file=sys.stderr)
        return 2
    why = engine.unavailable()
    if why or not corpus:
        print(f"run_cases: error: {why or 'no case matches the filter'}", file=sys.stderr)
        return 2

    folder = options.build_dir.resolve()
    jobs = [(case, config) for config in order for case in corpus]
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda job: run_case(*job, engine, folder), jobs))

    for result in results:
        for failure in result.failures:
            print(f"FAIL {result.case} [{result.config}] {failure}")
    print(f"engine {engine.name}: right answers of those judged")
    print(table(results, engine, order))
    if options.results:
        options.results.write_text(json.dumps([asdict(r) for r in results], indent=1) + "\n")
    failed = sum(bool(r.failures) for r in results)
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
