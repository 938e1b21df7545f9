"""`plumb check` on about a million lines: time, memory, and how both grow.

A Debian source package is fetched by name and configured; `make -n` says how each unit
is compiled, so nothing but the generated headers has to be built. Then:

  whole    plumb check -p with an empty cache: CPU, peak memory, findings
  again    the same with a warm cache; with one job and with several on the smallest part
  growth   seeded parts of the units, of 100,000 lines and more: the analysis alone, its
           units being read from the cache and nothing else
  closed   the same on parts that have what they call: a part of loose units lacks the
           program's allocator, so that hardly a block is followed in it
  clang    clang-19 -O0 -g -c on a seeded sample of the units, to compare with

Writes docs/figures/check-growth.svg, unless --lines asks for a part only. The bar: no
worse than n log n.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import measure  # noqa: E402
import packages as sources  # noqa: E402
from static.packages import flags_of  # noqa: E402

FIGURE = Path(__file__).resolve().parent.parent.parent / "docs" / "figures" / "check-growth.svg"
SIZES = (100_000, 200_000, 400_000, 700_000)
SEED = 9

# What is configured is what needs no other library.
PACKAGES = {
    "ffmpeg": ["./configure", "--disable-x86asm", "--disable-autodetect", "--disable-doc"],
}


@dataclass
class Point:
    lines: int
    units: int
    cpu: float
    peak_mb: float


def commands_of(text: str, folder: Path) -> list[dict]:
    """The compile commands among what `make -n` prints, one for each source."""
    out: dict[str, dict] = {}
    for line in text.splitlines():
        if " -c " not in line:
            continue
        try:
            words = shlex.split(line)
        except ValueError:
            continue
        files = [w for w in words if re.search(r"\.(c|cc|cpp)$", w)]
        if len(files) != 1 or Path(words[0]).name not in ("gcc", "cc", "g++", "c++"):
            continue
        if (folder / files[0]).exists():
            out.setdefault(files[0], {"directory": str(folder), "file": files[0],
                                      "arguments": words})
    return [out[name] for name in sorted(out)]


def prepared(name: str, work: Path) -> list[dict]:
    target = work / f"large-{name}"
    done = target / "plumb-large.json"
    if not done.exists():
        source = sources.source_of(name, work, [])
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target, symlinks=True)
        with (work / f"large-{name}.log").open("w") as log:
            if sources.step(PACKAGES[name], target, {}, log):
                raise RuntimeError(f"configure failed, see {log.name}")
        text = subprocess.run(["make", "-n", "V=1"], cwd=target, capture_output=True,
                              text=True).stdout
        done.write_text(json.dumps(commands_of(text, target)))
    return json.loads(done.read_text())


def lines_of(entry: dict) -> int:
    return len((Path(entry["directory"]) / entry["file"]).read_bytes().splitlines())


def check(plumb: Path, entries: list[dict], cache: Path, jobs: int,
          report: Path) -> tuple[measure.Measured, dict]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "compile_commands.json").write_text(json.dumps(entries))
        done = measure.run([str(plumb), "check", "-p", folder, f"--jobs={jobs}",
                            f"--cache={cache}", "--format=json", f"--output={report}"])
    if done.status not in (0, 1):
        raise RuntimeError(f"plumb check ended with {done.status}: {done.stderr[-300:]!r}")
    return done, json.loads(report.read_text())


def forget_results(cache: Path) -> None:
    """Leaves the compiled units only."""
    for path in cache.rglob("*.results"):
        path.unlink()


def part_of(entries: list[dict], lines: int) -> list[dict]:
    """So many lines of the units, in a seeded order: each part holds the one before."""
    order = list(entries)
    random.Random(SEED).shuffle(order)
    out, count = [], 0
    for entry in order:
        if count >= lines:
            break
        out.append(entry)
        count += lines_of(entry)
    return out


DEFINED = re.compile(r"^(?!static\b|#|typedef\b|return\b|else\b)[A-Za-z_][\w \t*]*?\b(\w+)\(", re.M)
CALLED = re.compile(r"\b([A-Za-z_]\w+)\s*\(")


def closed_order(entries: list[dict]) -> list[list[dict]]:
    """The units in the order of part_of, each with those that define what it calls, and
    what these call, that are not there yet. By the text: near enough to tell how much of
    the program a part has, and nothing has to be compiled for it."""
    texts = [(Path(e["directory"]) / e["file"]).read_text(errors="replace") for e in entries]
    where: dict[str, int] = {}
    for i, text in enumerate(texts):
        for name in DEFINED.findall(text):
            where.setdefault(name, i)
    needs = [sorted({where[name] for name in CALLED.findall(text) if name in where})
             for text in texts]
    order = list(range(len(entries)))
    random.Random(SEED).shuffle(order)
    seen: set[int] = set()
    out = []
    for start in order:
        work, group = [start], []
        while work:
            i = work.pop()
            if i in seen:
                continue
            seen.add(i)
            group.append(entries[i])
            work += needs[i]
        if group:
            out.append(group)
    return out


def closed_part_of(groups: list[list[dict]], lines: int) -> list[dict]:
    out, count = [], 0
    for group in groups:
        if count >= lines:
            break
        out += group
        count += sum(lines_of(entry) for entry in group)
    return out


def clang_sample(entries: list[dict], most: int) -> tuple[float, int]:
    """CPU of clang -O0 -g -c on a sample, and the lines of it."""
    sample = list(entries)
    random.Random(SEED + 1).shuffle(sample)
    cpu, lines = 0.0, 0
    with tempfile.TemporaryDirectory() as folder:
        for entry in sample[:most]:
            file = Path(entry["directory"]) / entry["file"]
            words = [w for w in flags_of(entry["arguments"], entry["directory"], file)
                     if not re.match(r"-fno-tree|-fno-math|-fno-signed", w)]
            done = measure.run(["env", "-C", entry["directory"], "clang-19", *words, "-w", "-O0",
                                "-g", "-c", str(file), "-o", f"{folder}/out.o"])
            if done.status == 0:
                cpu += done.cpu
                lines += lines_of(entry)
    return cpu, lines


def exponent(points: list[Point]) -> float:
    """Of CPU over lines, by least squares in logarithms."""
    xs = [math.log(p.lines) for p in points]
    ys = [math.log(max(p.cpu, 0.01)) for p in points]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs)


def svg(points: list[Point], name: str) -> str:
    wide, high, left, bottom = 640, 400, 70, 50
    most_lines = max(p.lines for p in points) * 1.05
    first = points[0]
    bound = [(n, first.cpu * n * math.log(n) / (first.lines * math.log(first.lines)))
             for n in (p.lines for p in points)]
    most_cpu = max([p.cpu for p in points] + [c for _, c in bound]) * 1.1

    def at(lines: float, cpu: float) -> str:
        x = left + (wide - left - 20) * lines / most_lines
        y = high - bottom - (high - bottom - 30) * cpu / most_cpu
        return f"{x:.1f},{y:.1f}"

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" '
             f'font-family="sans-serif" font-size="12">',
             f'<text x="{left}" y="18">plumb check on parts of {name}: CPU of the analysis</text>',
             f'<path d="M{at(0, most_cpu)} L{at(0, 0)} L{at(most_lines, 0)}" fill="none" '
             'stroke="#444"/>']
    for share in (0.25, 0.5, 0.75, 1.0):
        x, y = at(0, most_cpu * share).split(",")
        parts.append(f'<text x="{float(x) - 8}" y="{y}" text-anchor="end">'
                     f"{most_cpu * share:.0f} s</text>")
        x, y = at(most_lines * share, 0).split(",")
        parts.append(f'<text x="{x}" y="{float(y) + 18}" text-anchor="middle">'
                     f"{most_lines * share / 1000:.0f} kLOC</text>")
    for data, colour, label in (([(p.lines, p.cpu) for p in points], "#4477aa", "measured"),
                                (bound, "#ee6677", "n log n from the first point")):
        line = " ".join(at(*each) for each in data)
        dash = "" if label == "measured" else ' stroke-dasharray="6 4"'
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" '
                     f'stroke-width="2"{dash}/>')
        x, y = at(*data[-1]).split(",")
        parts.append(f'<text x="{float(x) - 10}" y="{float(y) - 8}" text-anchor="end" '
                     f'fill="{colour}">{label}</text>')
    for p in points:
        x, y = at(p.lines, p.cpu).split(",")
        parts.append(f'<circle cx="{x}" cy="{y}" r="3" fill="#4477aa"/>')
    return "\n".join(parts) + "\n</svg>\n"


def ids_of(report: dict) -> list[str]:
    return [leak["id"] for leak in report["leaks"]]


def measure_closed(options: argparse.Namespace, entries: list[dict], lines: int, cache: Path,
                   report: Path, whole: Point) -> None:
    """`whole` is measured already: all of the units have what they call."""
    groups = closed_order(entries)
    points = []
    print("\nParts with what they call:\n")
    print("| lines | units | CPU of the analysis | per thousand lines | findings |")
    print("|---|---|---|---|---|")
    for size in (size for size in SIZES if size < lines):
        part = closed_part_of(groups, size)
        forget_results(cache)
        done, found = check(options.plumb, part, cache, options.jobs, report)
        count = sum(lines_of(entry) for entry in part)
        points.append(Point(count, len(part), done.cpu, done.peak_kb / 1024))
        print(f"| {count:,} | {len(part)} | {done.cpu:.1f} s | {1000 * 1000 * done.cpu / count:.1f} ms "
              f"| {len(found['leaks'])} |", flush=True)
    print(f"\nWith the whole: lines to the power of {exponent([*points, whole]):.2f}.")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plumb", type=Path)
    parser.add_argument("--package", choices=PACKAGES, default="ffmpeg")
    parser.add_argument("--work", type=Path, help="keeps the sources and the cache here")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--lines", type=int, default=0, help="only a part of so many lines")
    parser.add_argument("--sample", type=int, default=60, help="units for clang")
    options = parser.parse_args()
    work = (options.work or Path(tempfile.mkdtemp(prefix="plumb-large-"))).resolve()
    work.mkdir(parents=True, exist_ok=True)
    entries = prepared(options.package, work)
    if options.lines:
        entries = part_of(entries, options.lines)
    cache, report = work / "cache", work / "large.json"
    shutil.rmtree(cache, ignore_errors=True)
    lines = sum(lines_of(entry) for entry in entries)
    clang, sampled = clang_sample(entries, options.sample)
    if not sampled:
        raise RuntimeError("clang compiled nothing of the sample")
    base = clang * lines / sampled

    cold, first = check(options.plumb, entries, cache, options.jobs, report)
    warm, second = check(options.plumb, entries, cache, options.jobs, report)
    skipped = first["totals"].get("skippedUnits", 0)
    print(f"\n### {options.package}: {lines:,} lines in {len(entries):,} units"
          f" ({skipped} skipped), {first['totals'].get('functions', 0):,} functions\n")
    print("| run | CPU | by clang -O0 -g -c | wall | peak memory | findings |")
    print("|---|---|---|---|---|---|")
    for name, done, found in (("cold", cold, first), ("again", warm, second)):
        print(f"| {name} | {done.cpu:.0f} s | {done.cpu / base:.2f}x | {done.wall:.0f} s "
              f"| {done.peak_kb / 1024:.0f} MB | {len(found['leaks'])} |", flush=True)
    print(f"\nclang: {clang:.1f} s for {sampled:,} lines in a sample of {options.sample} units, "
          f"{base:.0f} s for all. Same findings twice: {ids_of(first) == ids_of(second)}.\n")

    print("| lines | units | CPU of the analysis | per thousand lines | peak memory |")
    print("|---|---|---|---|---|")
    points = []
    for size in [*(size for size in SIZES if size < lines), lines]:
        part = part_of(entries, size)
        forget_results(cache)
        done, found = check(options.plumb, part, cache, options.jobs, report)
        if not points:
            forget_results(cache)
            _, alone = check(options.plumb, part, cache, 1, report)
            forget_results(cache)
            _, many = check(options.plumb, part, cache, 8, report)
            same = ids_of(found) == ids_of(alone) == ids_of(many)
        count = sum(lines_of(entry) for entry in part)
        points.append(Point(count, len(part), done.cpu, done.peak_kb / 1024))
        print(f"| {count:,} | {len(part)} | {done.cpu:.1f} s | {1000 * 1000 * done.cpu / count:.1f} ms "
              f"| {done.peak_kb / 1024:.0f} MB |", flush=True)
    print(f"\nSame findings with 1, {options.jobs} and 8 jobs on the first part: {same}. "
          f"CPU grows as lines to the power of {exponent(points):.2f}.")
    measure_closed(options, entries, lines, cache, report, points[-1])
    if not options.lines:
        FIGURE.write_text(svg(points, options.package))
    if not options.work:
        shutil.rmtree(work, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
