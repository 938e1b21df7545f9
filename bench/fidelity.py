#!/usr/bin/env python3
"""Does `plumb watch` find leaks that were put in, and only those?

Real programs run with 10% of the frees dropped at 25% of their allocation
sites (bench/drop_frees.c, which knows the truth exactly). Per site: how many of
the reported ones leak (precision), how many of the leaked bytes were at
reported sites, and how many of the sites that leaked much were reported.

fidelity.py PLUMB [--set=fresh|tuned] [--only=NAME,...] [--seeds=1,2] [--why] [--keep=DIR]
                  [--table] [--fresh]: --why says what a missed site was taken for, --keep
keeps snapshots and truth. Results are appended to build/bench/fidelity.jsonl, from
which the table is printed; the programs that the defaults were chosen on are summed
up apart from those that were not looked at before.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import fidelity_subjects
from fidelity_subjects import Subject
from record import Record

FRAMES = 6
MUCH = 1 << 20
RECORD = Record("fidelity")


@dataclass
class Truth:
    dropped: dict[tuple, int] = field(default_factory=dict)  # leaky site -> bytes
    healthy: set[tuple] = field(default_factory=set)


def read_truth(path: Path) -> Truth:
    truth = Truth()
    for line in path.read_text().splitlines():
        leaky, _, blocks, size, *frames = line.split(" ")
        site = tuple(int(frame.rsplit("+", 1)[1], 16) for frame in frames)
        if leaky == "1" and int(blocks) > 0:
            truth.dropped[site] = truth.dropped.get(site, 0) + int(size)
        else:
            truth.healthy.add(site)
    return truth


def reported_sites(report: dict) -> set[tuple]:
    """The innermost frames of each leak, without those of the dropper."""
    own = {i for i, m in enumerate(report["modules"]) if "drop_frees" in m["path"]}
    sites = set()
    for leak in report["leaks"]:
        frames = [f for f in leak["allocation"].get("stack", [])
                  if not f.get("inlined") and f.get("module") not in own]
        sites.add(tuple(f.get("offset", 0) for f in frames[:FRAMES]))
    return sites


def near(site: tuple, others) -> tuple | None:
    """The same site; a report may step back from the return address."""
    for other in others:
        n = min(len(site), len(other))
        if n and all(0 <= b - a <= 1 for a, b in zip(site[:n], other[:n])):
            return other
    return None


def run(subject: Subject, watched: list[str], env: dict[str, str]) -> None:
    with open(subject.stdin or os.devnull, "rb") as stdin:
        process = subprocess.Popen([*watched, *subject.command], env=env, user=subject.user,
                                   stdin=stdin, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
    try:
        if subject.load is not None:
            fidelity_subjects.wait_for_port()
            subject.load()
            # plumb passes it on, but not every signal.
            for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
                os.kill(int(child), signal.Signals[f"SIG{subject.signal}"])
        process.wait(timeout=200)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def verdicts(plumb: str, snapshot: Path) -> dict[tuple, str]:
    """What every site with idle memory was taken for."""
    done = subprocess.run([plumb, "report", "--all-sites", "--limit=0", "--format=json",
                           str(snapshot)], capture_output=True, text=True)
    found = {}
    for leak in json.loads(done.stdout)["leaks"]:
        one = {"modules": json.loads(done.stdout)["modules"], "leaks": [leak]}
        age = leak.get("age", {})
        for site in reported_sites(one):
            found[site] = f"{age.get('verdict')}, {age.get('samples')} samples"
    return found


def explain_missed(plumb: str, snapshot: Path, truth: "Truth", missed: set[tuple]) -> None:
    known = verdicts(plumb, snapshot)
    for site in missed:
        same = near(site, known)
        print(f"    missed: {truth.dropped[site]:,} bytes at {[hex(f) for f in site]}: "
              f"{known[same] if same else 'no idle sample'}", flush=True)


def measure(plumb: str, folder: Path, library: Path, name: str, subject: Subject, seed: int,
            options: dict[str, str]) -> dict | None:
    """One run: its row of the table, or None when there is no truth or no report."""
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    out.chmod(0o777)
    report = out / "report.json"
    env = {**os.environ, **subject.env, "LD_PRELOAD": str(library),
           "DROP_PROGRAM": Path(subject.command[0]).name,
           "DROP_FREES": f"seed={seed}:sites=25:frees=10:out={out}/truth"}
    watched = [plumb, "watch", "--epoch=50ms", "--interval=2s", f"--output={report}",
               "--format=json", f"--snapshot-file={out}/snapshot", "--"]
    run(subject, watched, env)
    truths = list(out.glob("truth*"))
    if not truths or not report.exists():
        return None
    truth = read_truth(truths[0])
    reported = reported_sites(json.loads(report.read_text()))
    right = {near(site, truth.dropped) for site in reported} - {None}
    wrong = [site for site in reported if near(site, truth.dropped) is None]
    much = {site for site, size in truth.dropped.items() if size >= MUCH}
    if "why" in options:
        explain_missed(plumb, out / "snapshot", truth, much - right)
        for site in wrong:
            print(f"    wrong: {[hex(f) for f in site]}", flush=True)
    if "keep" in options:
        for kept in (truths[0], out / "snapshot", report):
            shutil.copy(kept, Path(options["keep"]) / f"{name}.{seed}.{kept.name.split('.')[0]}")
    return {"leaky": len(truth.dropped), "much": len(much), "healthy": len(truth.healthy),
            "reported": len(right) + len(wrong), "right": len(right),
            "leaked": sum(truth.dropped.values()),
            "found": sum(truth.dropped[site] for site in right), "much_found": len(much & right)}


def print_table() -> None:
    rows = RECORD.rows("run")
    latest = {(row["set"], row["program"], row["seed"]): row for row in rows}
    for which in dict.fromkeys(row["set"] for row in rows):
        mine = [row for (of, _, _), row in latest.items() if of == which]
        print("\nPrograms that the defaults were "
              f"{'chosen on' if which == 'tuned' else 'not chosen on'}\n")
        print("| program | seed | leaky sites | of 1 MB | healthy sites | reported | right "
              "| leaked bytes found | of 1 MB found |")
        print("|---|---|---|---|---|---|---|---|---|")
        for row in mine:
            print(f"| {row['program']} | {row['seed']} | {row['leaky']} | {row['much']} "
                  f"| {row['healthy']} | {row['reported']} | {row['right']} "
                  f"| {100 * row['found'] / max(row['leaked'], 1):.0f}% of {row['leaked'] / 1e6:.1f} MB "
                  f"| {row['much_found']} of {row['much']} |")
        total = {key: sum(row[key] for row in mine) for key in
                 ("reported", "right", "leaked", "found", "much", "much_found", "healthy")}
        print(f"\nPrecision {100 * total['right'] / max(total['reported'], 1):.0f}% "
              f"({total['right']} of {total['reported']} reported sites); leaked bytes found "
              f"{100 * total['found'] / max(total['leaked'], 1):.0f}%; sites that leaked 1 MB found "
              f"{total['much_found']} of {total['much']}; healthy sites called leaks "
              f"{total['reported'] - total['right']} of {total['healthy']}.")


def main() -> int:
    plumb = str(Path(sys.argv[1]).resolve())
    options = dict(word.removeprefix("--").partition("=")[::2] for word in sys.argv[2:])
    if "fresh" in options:
        RECORD.forget()
    seeds = [int(seed) for seed in options.get("seeds", "1,2").split(",")]
    wanted = options["only"].split(",") if "only" in options else None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        library = folder / "drop_frees.so"
        subprocess.run(["cc", "-O2", "-g", "-fPIC", "-shared", "-fno-optimize-sibling-calls", "-o",
                        str(library), str(Path(__file__).parent / "drop_frees.c")], check=True)
        for which, make in (("tuned", fidelity_subjects.tuned), ("fresh", fidelity_subjects.fresh)):
            if "table" in options or options.get("set", which) != which:
                continue
            for program, subject in fidelity_subjects.installed(make(folder)).items():
                if wanted is not None and program not in wanted:
                    continue
                for seed in seeds:
                    row = measure(plumb, folder, library, program, subject, seed, options)
                    if row is None:
                        print(f"{program}, seed {seed}: no result", file=sys.stderr)
                    else:
                        RECORD.add("run", set=which, program=program, seed=seed, **row)
    print_table()
    return 0


if __name__ == "__main__":
    sys.exit(main())
