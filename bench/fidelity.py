#!/usr/bin/env python3
"""Does `plumb watch` find leaks that were put in, and only those?

Real programs run with 10% of the frees dropped at 25% of their allocation
sites (bench/drop_frees.c, which knows the truth exactly). Per site: how many of
the reported ones leak (precision), how many of the leaked bytes were at
reported sites, and how many of the sites that leaked much were reported.

fidelity.py PLUMB [PROGRAM...] [--why] [--keep=DIR]: --why says what a missed site
was taken for, --keep keeps snapshots and truth.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import sampled

SEEDS = tuple(int(seed) for seed in os.environ.get("SEEDS", "1,2").split(","))
FRAMES = 6
MUCH = 1 << 20


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


def run_redis(command: list[str], env: dict[str, str]) -> None:
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    port = str(sampled.PORT)
    for _ in range(200):
        time.sleep(0.05)
        if subprocess.run(["redis-cli", "-p", port, "ping"], capture_output=True).stdout.strip() == b"PONG":
            break
    for _ in range(3):
        subprocess.run(["redis-benchmark", "-p", port, "-n", "40000", "-r", "20000", "-d", "100", "-q",
                        "-t", "set,get,lpush,lpop,hset,sadd,spop"], capture_output=True)
    subprocess.run(["redis-cli", "-p", port, "shutdown", "nosave"], capture_output=True)
    process.wait(timeout=60)


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


def main() -> int:
    plumb = str(Path(sys.argv[1]).resolve())
    wanted = [word for word in sys.argv[2:] if not word.startswith("--")]
    why = "--why" in sys.argv
    keep = next((Path(word[7:]) for word in sys.argv if word.startswith("--keep=")), None)
    total = {"reported": 0, "right": 0, "bytes": 0, "found": 0, "much": 0, "much_found": 0,
             "healthy": 0}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library = folder / "drop_frees.so"
        subprocess.run(["cc", "-O2", "-g", "-fPIC", "-shared", "-fno-optimize-sibling-calls", "-o",
                        str(library), str(Path(__file__).parent / "drop_frees.c")], check=True)
        # Lives that are short beside the run: a leak is told by its rest.
        programs = sampled.programs(folder, live=2000)
        programs.pop("sort", None)  # allocates a few large blocks only
        if shutil.which("redis-server"):
            programs["redis"] = ["redis-server", "--port", str(sampled.PORT), "--bind", "127.0.0.1",
                                 "--save", "", "--appendonly", "no", "--dir", str(folder)]
        print("\n| program | seed | leaky sites | of 1 MB | healthy sites | reported | right | leaked bytes found | of 1 MB found |")
        print("|---|---|---|---|---|---|---|---|---|")
        for program, command in programs.items():
            if wanted and program not in wanted:
                continue
            for seed in SEEDS:
                for old in folder.glob("truth*"):
                    old.unlink()
                report = folder / "report.json"
                binary = Path(shutil.which(command[0])).resolve().name
                env = {**os.environ, "LD_PRELOAD": str(library), "PYTHONMALLOC": "malloc",
                       "DROP_PROGRAM": Path(command[0]).name if program != "python3" else "python3",
                       "DROP_FREES": f"seed={seed}:sites=25:frees=10:out={folder}/truth"}
                watched = [plumb, "watch", "--epoch=50ms", "--interval=2s", f"--output={report}",
                           "--format=json", f"--snapshot-file={folder}/snapshot", "--", *command]
                if program == "redis":
                    run_redis(watched, env)
                else:
                    subprocess.run(watched, env=env, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
                truths = list(folder.glob("truth*"))
                if not truths or not report.exists():
                    print(f"| {program} | {seed} | no result ({binary}) |")
                    continue
                truth = read_truth(truths[0])
                reported = reported_sites(json.loads(report.read_text()))
                right = {near(site, truth.dropped) for site in reported} - {None}
                wrong = [site for site in reported if near(site, truth.dropped) is None]
                much = {site for site, size in truth.dropped.items() if size >= MUCH}
                leaked = sum(truth.dropped.values())
                found = sum(truth.dropped[site] for site in right)
                total["reported"] += len(right) + len(wrong)
                total["right"] += len(right)
                total["bytes"] += leaked
                total["found"] += found
                total["much"] += len(much)
                total["much_found"] += len(much & right)
                total["healthy"] += len(truth.healthy)
                print(f"| {program} | {seed} | {len(truth.dropped)} | {len(much)} | {len(truth.healthy)} "
                      f"| {len(right) + len(wrong)} | {len(right)} "
                      f"| {100 * found / max(leaked, 1):.0f}% of {leaked / 1e6:.1f} MB "
                      f"| {len(much & right)} of {len(much)} |", flush=True)
                if why:
                    explain_missed(plumb, folder / "snapshot", truth, much - right)
                if keep is not None:
                    for kept in (truths[0], folder / "snapshot"):
                        shutil.copy(kept, keep / f"{program}.{seed}.{kept.name.split('.')[0]}")
    wrong = total["reported"] - total["right"]
    print(f"\nPrecision {100 * total['right'] / max(total['reported'], 1):.0f}% "
          f"({total['right']} of {total['reported']} reported sites); leaked bytes found "
          f"{100 * total['found'] / max(total['bytes'], 1):.0f}%; sites that leaked 1 MB found "
          f"{total['much_found']} of {total['much']}; healthy sites called leaks "
          f"{wrong} of {total['healthy']}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
