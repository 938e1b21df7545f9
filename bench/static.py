#!/usr/bin/env python3
"""`plumb check` beside other static analysers, on public suites with labels.

    static.py PLUMB [--suites=DIR] [--saber=PATH] [--only=juliet,svf] [--sample=N]
    static.py PLUMB --only=packages [--packages=tar,lua5.4] [--work=DIR] [--no-peers]
    static.py PLUMB --only=saver,fixes --suites=DIR [--half=develop|report] [--verbose]

The suites and Saber are third-party and kept outside of the repository; what is
absent is named. Tables in Markdown. --half=develop|report looks at one half of
a suite only (Juliet by cases, SVF by files, Infer's by functions; ITC is too small
to be halved): rules are found on the first and judged on the second. --verbose
lists what was missed and what was false. `packages` is real code, see
static/packages.py; --work=DIR keeps the sources, --prepare only fetches them.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from static import fixes, packages, projects, sample  # noqa: E402
from static.score import Score  # noqa: E402
from static.suites import SUITES, Item  # noqa: E402
from static.tools import Tool, make_tools  # noqa: E402

REAL = {"saver": projects.measure_saver, "fixes": fixes.measure_fixes}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plumb", type=Path)
    parser.add_argument("--suites", type=Path, help="folder with the suites")
    parser.add_argument("--saber", help="path of SVF's saber")
    parser.add_argument("--only", default=",".join([*SUITES, *REAL, "packages", "sample"]),
                        help="suites, with commas; packages: Debian's sources; sample: how "
                             "many findings are true")
    parser.add_argument("--packages", default="", help="only these packages, with commas")
    parser.add_argument("--work", type=Path, help="keeps the sources of packages here")
    parser.add_argument("--prepare", action="store_true", help="only fetch and configure packages")
    parser.add_argument("--no-peers", action="store_true", help="packages: without other analysers")
    parser.add_argument("--tools", default="", help="only tools whose name matches this expression")
    parser.add_argument("--half", choices=["develop", "report", "all"], default="all")
    parser.add_argument("--sample", type=int, default=0, help="so many Juliet cases, seeded")
    parser.add_argument("--seed", type=int, default=401)
    parser.add_argument("--filter", default="", help="only items with this in their name")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true")
    return parser.parse_args()


def choose(items: list[Item], options: argparse.Namespace) -> list[Item]:
    if options.half != "all":
        items = [item for item in items if item.half in ("", options.half)]
        items = [replace(item, questions=[q for q in item.questions if q.half in ("", options.half)])
                 for item in items]
        items = [item for item in items if item.questions]
    if options.filter:
        items = [item for item in items if options.filter in item.name]
    if options.sample and any(item.half for item in items):
        names = sorted({item.name for item in items})
        random.Random(options.seed).shuffle(names)
        kept = set(names[:options.sample])
        items = [item for item in items if item.name in kept]
    return items


def measure_suite(items: list[Item], tools: list[Tool], options: argparse.Namespace) -> None:
    print("| tool | recall | without blocks that a global keeps and wrong labels | false alarms "
          "| without wrong labels | precision | C | C++ | not analysed | CPU, s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for tool in tools:
        if why := tool.absent():
            print(f"| {tool.name} | absent: {why} | | | | | | | | |")
            continue
        with ThreadPoolExecutor(options.jobs) as pool:
            answers = list(pool.map(lambda item: tool.check(item.files, item.flags, item.models), items))
        whole, ordinary = Score(), Score()
        by_language = {"C": Score(), "C++": Score()}
        for item, answer in zip(items, answers, strict=True):
            whole.add(item, answer)
            ordinary.add(item, answer, frozenset({"global", "label"}))
            by_language[item.language].add(item, answer)
        parts = [f"{s.found} of {s.leaks}, {s.alarms} false" if s.leaks else "-"
                 for s in by_language.values()]
        print(f"| {tool.name} | {whole.recall()} | {ordinary.recall()} | {whole.false_alarms()} "
              f"| {ordinary.false_alarms()} | {whole.precision()} | {parts[0]} | {parts[1]} | {whole.broken} | {whole.cpu:.1f} |",
              flush=True)
        if options.verbose:
            print("missed:", *whole.missed, file=sys.stderr)
            print("false:", *whole.false, file=sys.stderr)
            for item, answer in zip(items, answers, strict=True):
                if answer.broken:
                    print(f"not analysed: {item.name}: {' '.join(answer.broken.split())}",
                          file=sys.stderr)


def main() -> int:
    options = parse_arguments()
    for name in options.only.split(","):
        if name in ("packages", "sample"):
            chosen = [each for each in options.packages.split(",") if each]
            if wrong := [each for each in chosen if each not in packages.PACKAGES]:
                print(f"static: no package {wrong}; there are {', '.join(packages.PACKAGES)}",
                      file=sys.stderr)
                return 2
            if name == "sample":
                sample.run(options.plumb.resolve(), options.work, chosen, options.prepare,
                           options.verbose)
            else:
                packages.run(options.plumb.resolve(), options.work, chosen, not options.no_peers,
                             options.prepare)
            continue
        if name not in SUITES and name not in REAL:
            print(f"static: no suite '{name}'; there are {', '.join([*SUITES, *REAL])}",
                  file=sys.stderr)
            return 2
        folder = SUITES[name].folder if name in SUITES else name
        root = options.suites / folder if options.suites else None
        if root is None or not root.is_dir():
            print(f"\n### {name}\n\nabsent: --suites=DIR has no folder {folder}")
            continue
        if name in REAL:
            print(f"\n### {name}\n")
            REAL[name](root, options.plumb.resolve(), options.half, options.verbose, options.jobs)
            continue
        suite = SUITES[name]
        tools = [tool for tool in make_tools(options.plumb.resolve(), options.saber, suite.defect)
                 if re.search(options.tools, tool.name)]
        items = choose(suite.read(root), options)
        asked = [q for item in items for q in item.questions]
        print(f"\n### {name}: {sum(q.leaks for q in asked)} leaks, "
              f"{sum(not q.leaks for q in asked)} clean\n")
        measure_suite(items, tools, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
