#!/usr/bin/env python3
"""Figures 10 and 11 of the SWAT paper on our programs: what sampling of accesses adds
to what full tracing reports, by rate and by predicate.

figures.py PLUMB [--only=NAME,...]: bench/compiled/* built with -fplumb=sampled, 10% of
the frees dropped, looked at after 90% of the run; all rates are simulated on the same
execution (bench/policies.c). Two measures: the paper's (added reports over all
reports), and the share of the blocks in use that are called stale, which the paper's
hides when many are dropped. Prints the tables and writes docs/figures/*.svg.
"""

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
FIGURES = HERE.parent / "docs" / "figures"
RATES = ("1%", "0.1%", "0.01%")
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44")


@dataclass
class Block:
    dropped: bool
    birth: int
    last: list[int]  # full tracing, then each rate


PREDICATES = {
    "idle > 10% of run": lambda now, birth, last: now - max(last, birth) > 0.1 * now,
    "idle > 30% of run": lambda now, birth, last: now - max(last, birth) > 0.3 * now,
    "idle > 10x active": lambda now, birth, last: now - max(last, birth)
    > max(10 * (max(last, birth) - birth), 0.01 * now),
    "never accessed": lambda now, birth, last: last == 0 and now - birth > 0.01 * now,
}


def build(plumb: str, source: Path, folder: Path) -> Path:
    out = folder / source.stem
    command = "c++" if source.suffix == ".cc" else "cc"
    subprocess.run([plumb, command, "-fplumb=sampled", "-O2", "-g", str(source), "-o", str(out)],
                   check=True)
    return out


def run(binary: Path, library: Path, folder: Path, stop: int | None) -> tuple[int, list[Block]]:
    out = folder / "blocks"
    at = f":at={stop}" if stop else ""
    subprocess.run([str(binary)], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "LD_PRELOAD": str(library),
                        "POLICIES": f"drop=10{at}:out={out}"})
    lines = out.read_text().splitlines()
    blocks = []
    for line in lines[1:]:
        _, dropped, birth, *last = line.split()
        blocks.append(Block(dropped == "1", int(birth), [int(word) for word in last]))
    return int(lines[0].split()[1]), blocks


@dataclass
class Added:
    by_paper: float  # added reports, over all reports
    healthy: float  # of the blocks in use, the share called stale
    count: int  # of blocks in use


def added(now: int, blocks: list[Block], predicate, rate: int) -> Added:
    reports = extra = used = wrong = 0
    for block in blocks:
        full = predicate(now, block.birth, block.last[0])
        seen = predicate(now, block.birth, block.last[rate + 1])
        reports += seen
        extra += seen and not full
        if not block.dropped and not full:
            used += 1
            wrong += seen
    return Added(extra / max(reports, 1), wrong / max(used, 1), used)


def svg(title: str, programs: list[str], series: dict[str, list[list[float]]],
        labels: tuple[str, ...]) -> str:
    """One panel per measure; a group per program, a bar per label."""
    wide, high, left, gap = 640, 170, 52, 62
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" '
             f'height="{len(series) * (high + gap) + 40}" font-family="sans-serif" font-size="11">',
             f'<title>{title}</title>', '<rect width="100%" height="100%" fill="#ffffff"/>']
    for panel, (measure, rows) in enumerate(series.items()):
        top = 30 + panel * (high + gap)
        highest = max([0.01, *(value for row in rows for value in row)])
        scale = next(step for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0) if highest <= step)
        parts.append(f'<text x="{left}" y="{top - 8}" font-weight="bold">{measure}</text>')
        for tick in range(6):
            y = top + high - high * tick / 5
            parts.append(f'<line x1="{left}" x2="{wide - 10}" y1="{y:.1f}" y2="{y:.1f}" '
                         'stroke="#dddddd"/>')
            parts.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">'
                         f'{100 * scale * tick / 5:g}%</text>')
        group = (wide - 10 - left) / len(programs)
        bar = group * 0.8 / len(labels)
        for p, program in enumerate(programs):
            for b, value in enumerate(rows[p]):
                tall = high * value / scale
                x = left + p * group + group * 0.1 + b * bar
                parts.append(f'<rect x="{x:.1f}" y="{top + high - tall:.1f}" width="{bar * 0.9:.1f}" '
                             f'height="{tall:.1f}" fill="{COLOURS[b]}"><title>{program}, {labels[b]}: '
                             f'{100 * value:.1f}%</title></rect>')
            parts.append(f'<text x="{left + (p + 0.5) * group:.1f}" y="{top + high + 15}" '
                         f'text-anchor="middle">{program}</text>')
    y = 30 + len(series) * (high + gap) - 20
    for b, label in enumerate(labels):
        text = label.replace(">", "&gt;")
        parts.append(f'<rect x="{left + 145 * b}" y="{y}" width="11" height="11" fill="{COLOURS[b]}"/>')
        parts.append(f'<text x="{left + 145 * b + 16}" y="{y + 10}">{text}</text>')
    return "\n".join(parts) + "\n</svg>\n"


def show(name: str, title: str, found: dict[str, list[Added]], labels: tuple[str, ...]) -> None:
    print(f"\n{title}: added reports over all reports / share of the blocks in use\n")
    print("| program | blocks in use | " + " | ".join(labels) + " |")
    print("|---|---|" + "---|" * len(labels))
    for program, row in found.items():
        print(f"| {program} | {max(one.count for one in row):,} | "
              + " | ".join(f"{100 * one.by_paper:.1f}% / {100 * one.healthy:.1f}%" for one in row)
              + " |", flush=True)
    FIGURES.mkdir(exist_ok=True)
    (FIGURES / name).write_text(svg(title, list(found), {
        "Added reports, of all reports (the paper's measure)":
            [[one.by_paper for one in row] for row in found.values()],
        "Blocks in use that are called stale, of all in use":
            [[one.healthy for one in row] for row in found.values()],
    }, labels))


def main() -> int:
    plumb = str(Path(sys.argv[1]).resolve())
    options = dict(word.removeprefix("--").partition("=")[::2] for word in sys.argv[2:])
    wanted = options["only"].split(",") if "only" in options else None
    by_rate: dict[str, list[Added]] = {}
    by_predicate: dict[str, list[Added]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library = folder / "policies.so"
        subprocess.run(["clang-19", "-O2", "-g", "-fPIC", "-shared", "-fno-builtin", "-o",
                        str(library), str(HERE / "policies.c")], check=True)
        for source in sorted((HERE / "compiled").iterdir()):
            if wanted is not None and source.stem not in wanted:
                continue
            binary = build(plumb, source, folder)
            length, _ = run(binary, library, folder, None)
            now, blocks = run(binary, library, folder, max(1, length * 9 // 10))
            idle = PREDICATES["idle > 10% of run"]
            by_rate[source.stem] = [added(now, blocks, idle, r) for r in range(len(RATES))]
            by_predicate[source.stem] = [added(now, blocks, p, 1) for p in PREDICATES.values()]
    show("watch-rates.svg", "Added by sampling, idle > 10% of run (figure 10)", by_rate, RATES)
    show("watch-predicates.svg", "Added by sampling at 0.1%, by predicate (figure 11)",
         by_predicate, tuple(PREDICATES))
    return 0


if __name__ == "__main__":
    sys.exit(main())
