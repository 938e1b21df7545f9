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
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "generator"))
sys.path.insert(0, str(HERE.parent / "tests" / "runner"))

from build import configs  # noqa: E402
from compare import Tally, examine_all  # noqa: E402
from engines import Run  # noqa: E402

ASPECTS = ["found", "false-alarm", "place", "function", "holder", "cause"]


def cell(tally: Tally, aspect: str) -> str:
    if aspect == "false-alarm":
        return str(tally.wrong(aspect))
    judged = tally.judged.get(aspect, 0)
    right = tally.right.get(aspect, 0)
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
    parser.add_argument("--keep", type=Path, help="leave programs and reports in this folder")
    given = parser.parse_args()
    order = configs(given.compilers, given.opt)
    seeds = range(given.first, given.first + (given.programs + 1) // 2)
    jobs = [(seed, lang, config) for config in order for seed in seeds for lang in ("c", "c++")]
    tallies = {config: Tally() for config in order}

    with tempfile.TemporaryDirectory() as name:
        folder = (given.keep or Path(name)).resolve()
        for (_, _, config), where, outcome in examine_all(jobs, [Run(given.plumb.resolve())], folder,
                                                          False, given.jobs):
            verdicts = outcome if isinstance(outcome, str) else outcome[0][1]
            if isinstance(verdicts, str):
                tallies[config].add_broken(verdicts, where)
            else:
                tallies[config].add([v for v in verdicts if v.aspect in ASPECTS], where)

    for tally in tallies.values():
        for remark in tally.remarks:
            if given.verbose:
                print(remark, file=sys.stderr)
    print("| configuration | programs | lost groups found | false alarms | place | function | holder | cause | failed |")
    print("|---|---|---|---|---|---|---|---|---|")
    for config, tally in tallies.items():
        cells = " | ".join(cell(tally, aspect) for aspect in ASPECTS)
        print(f"| {config} | {tally.programs} | {cells} | {tally.broken} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
