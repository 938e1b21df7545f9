#!/usr/bin/env python3
"""Where `plumb run` says that generated programs lose their memory, against the truth.

    places.py PLUMB [--programs=500] [--first=1] [--compilers=gcc] [--opt=-O0,-O2] [--jobs=2] [--verbose]

Programs come from tests/generator, as many in C as in C++, each in every configuration.
A place is right by the rules of docs/glossary.md, as for the annotated cases. Markdown;
`--verbose` lists the wrong answers.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "generator"))
sys.path.insert(0, str(HERE.parent / "tests" / "runner"))

from build import BuildError, Config, configs  # noqa: E402
from compare import examine  # noqa: E402
from engines import Run  # noqa: E402
from judge import Verdict  # noqa: E402
from observed import EngineError  # noqa: E402

ASPECTS = ["found", "false-alarm", "place", "function", "holder", "cause"]


def share(right: int, judged: int) -> str:
    return f"{right} of {judged} ({100 * right / judged:.1f}%)" if judged else "-"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plumb", type=Path)
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--compilers", default="gcc")
    parser.add_argument("--opt", default="-O0,-O2")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    order = configs(given.compilers, given.opt)
    seeds = range(given.first, given.first + (given.programs + 1) // 2)
    jobs = [(seed, lang, config) for config in order for seed in seeds for lang in ("c", "c++")]
    right: Counter[tuple[Config, str]] = Counter()
    judged: Counter[tuple[Config, str]] = Counter()
    broken: Counter[Config] = Counter()

    with tempfile.TemporaryDirectory() as name:
        engine = Run(given.plumb.resolve())

        def one(job: tuple[int, str, Config]) -> list[Verdict] | str:
            seed, lang, config = job
            try:
                [(_, verdicts)] = examine(seed, lang, config, [engine], Path(name), False)
                return verdicts
            except (BuildError, EngineError) as error:
                return str(error)

        with ThreadPoolExecutor(given.jobs) as pool:
            for (seed, lang, config), verdicts in zip(jobs, pool.map(one, jobs), strict=True):
                where = f"seed {seed} {lang} [{config}]"
                if isinstance(verdicts, str):
                    broken[config] += 1
                    print(f"{where}: {verdicts}", file=sys.stderr)
                    continue
                for verdict in verdicts:
                    judged[config, verdict.aspect] += 1
                    right[config, verdict.aspect] += verdict.passed
                    if given.verbose and not verdict.passed and verdict.aspect in ASPECTS:
                        print(f"{where} {verdict.aspect}({verdict.label}): {verdict.detail}", file=sys.stderr)

    print("| configuration | programs | lost groups found | false alarms | place | function | holder | cause | failed |")
    print("|---|---|---|---|---|---|---|---|---|")
    for config in order:
        cells = [share(right[config, a], judged[config, a]) if a != "false-alarm"
                 else str(judged[config, a] - right[config, a]) for a in ASPECTS]
        programs = 2 * len(seeds)
        print(f"| {config} | {programs} | " + " | ".join(cells) + f" | {broken[config]} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
