#!/usr/bin/env python3
"""`plumb check` on generated programs whose losses are known by construction.

    generated.py PLUMB [--programs=500] [--first=1] [--lang=c,c++] [--jobs=2] [--verbose]

Programs come from tests/generator, as many in each language, seed by seed. A loss is found when a
finding names one of its allocations; a finding that names an allocation of no loss is
a false alarm. Recall by cause and by what was lost; Markdown. `--verbose` lists the
misses and the false alarms.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "tests" / "generator"))

import measure  # noqa: E402
from generate import write_program  # noqa: E402


@dataclass
class Outcome:
    losses: Counter[str] = field(default_factory=Counter)  # by pattern
    found: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)
    false: list[str] = field(default_factory=list)
    hidden: int = 0
    broken: list[str] = field(default_factory=list)
    cpu: float = 0.0


def maker_at(lines: list[str], number: int) -> str:
    """What the function around the line makes: make_table_2 -> table."""
    for line in reversed(lines[:number]):
        if match := re.match(r"(?:static|struct|class|int|void)\b[^=;]*?(\w+)\(", line):
            return re.sub(r"^(?:make|new|create|insert|push|add)_|_?\d+\w*$", "", match[1])
    return "main"


def check(plumb: Path, seed: int, lang: str, folder: Path) -> Outcome:
    out = Outcome()
    source = write_program(seed, lang, folder / f"{lang.replace('+', 'x')}_{seed}")
    report = source.with_suffix(".report.json")
    done = measure.run([str(plumb), "check", "--jobs=1", "--no-cache", "--format=json",
                        f"--output={report}", f"--cflags=-w -I{source.parent}", str(source)])
    out.cpu = done.cpu
    if done.status not in (0, 1) or not report.exists():
        out.broken.append(f"{source.name}: {done.stderr.decode(errors='replace')[-200:]}")
        return out
    named: set[int] = set()
    places: list[tuple[int, int]] = []
    for leak in json.loads(report.read_text())["leaks"]:
        if "suppressed" in leak:
            out.hidden += 1
            continue
        lines = {f["line"] for f in leak["allocation"].get("stack", [])
                 if "line" in f and Path(f["file"]).name == source.name}
        named |= lines
        loss = (leak.get("loss") or {}).get("stack", [{}])[0].get("line", 0)
        places.append((min(lines, default=0), loss))
    text = source.read_text().splitlines()
    truth = json.loads(source.with_suffix(".json").read_text())
    lost: set[int] = set()
    for thing in truth["objects"]:
        if thing["kind"] != "lost":
            continue
        lost |= set(thing["allocations"])
        pattern = f"{truth['language']} {thing['cause']}"
        out.losses[pattern] += 1
        if named & set(thing["allocations"]):
            out.found[pattern] += 1
        else:
            what = maker_at(text, min(thing["allocations"], default=1))
            where = thing["losses"][0]["line"] if thing["losses"] else "?"
            out.missed.append(f"{source.name}:{where} {thing['cause']} {what}")
    out.false += [f"{source.name}:{at} lost at {loss}" for at, loss in places
                  if not any(at == line for line in lost)]
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plumb", type=Path)
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--lang", default="c,c++", help="of these languages")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--work", type=Path, help="keeps the programs here")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.work or Path(temporary)
        langs = options.lang.split(",")
        tasks = [(options.first + i // len(langs), langs[i % len(langs)])
                 for i in range(options.programs)]
        with ThreadPoolExecutor(options.jobs) as pool:
            outcomes = list(pool.map(
                lambda task: check(options.plumb.resolve(), *task, folder), tasks))
    losses, found = Counter[str](), Counter[str]()
    for each in outcomes:
        losses += each.losses
        found += each.found
    false = [text for each in outcomes for text in each.false]
    broken = [text for each in outcomes for text in each.broken]
    print("| losses | recall |")
    print("|---|---|")
    for pattern in sorted(losses):
        print(f"| {pattern} | {found[pattern]} of {losses[pattern]} = "
              f"{100 * found[pattern] / losses[pattern]:.0f}% |")
    print(f"| all | {found.total()} of {losses.total()} = "
          f"{100 * found.total() / max(1, losses.total()):.0f}% |")
    print(f"\n{options.programs} programs, {len(false)} false alarms, "
          f"{sum(each.hidden for each in outcomes)} findings hidden as undecided, "
          f"{len(broken)} not analysed, {sum(each.cpu for each in outcomes):.0f} s of CPU.")
    if options.verbose:
        for title, texts in (("missed", [t for each in outcomes for t in each.missed]),
                             ("false", false), ("not analysed", broken)):
            for text in texts:
                print(f"{title}: {text}", file=sys.stderr)
    return 1 if false or broken else 0


if __name__ == "__main__":
    sys.exit(main())
