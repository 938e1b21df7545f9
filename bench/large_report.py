#!/usr/bin/env python3
"""How `plumb report` copes with 100,000 leaks in one report of about 100 MB.

The bar: the top of it printed in under 3 seconds, within 10 times the file's
size in memory.
"""

import json
import random
import sys
import tempfile
from pathlib import Path

import measure

LEAKS = 100_000
FRAMES = 4  # in each of three stacks


def frame(rng: random.Random) -> dict:
    number = rng.randrange(5000)
    return {
        "function": f"component_{number % 97}_handle_{number}",
        "file": f"/src/project/component_{number % 97}/file_{number % 311}.c",
        "line": 10 + number % 900, "module": 0, "offset": 4096 + number * 16,
    }


def leak(rng: random.Random, number: int) -> dict:
    size = rng.randrange(1, 4096)
    return {
        "id": f"{number:016x}", "kind": "lost", "confidence": 1, "resource": "memory",
        "bytes": size, "blocks": 1, "indirect": {"blocks": 0, "bytes": 0},
        "allocation": {"stack": [frame(rng) for _ in range(FRAMES)], "api": "malloc"},
        "loss": {"cause": "overwritten", "stack": [frame(rng) for _ in range(FRAMES)],
                 "holder": {"name": f"table->entry_{number % 61}", "storage": "heap"}},
    }


def make_report(path: Path) -> None:
    rng = random.Random(1)
    leaks = [leak(rng, n) for n in range(LEAKS)]
    total = {"blocks": LEAKS, "bytes": sum(l["bytes"] for l in leaks)}
    nothing = {"blocks": 0, "bytes": 0}
    report = {
        "schema": "plumb-report/1",
        "tool": {"name": "plumb", "version": "0.1.0", "engine": "run", "mode": "scan"},
        "subject": {"command": ["./large"]},
        "modules": [{"path": "/usr/bin/large"}],
        "totals": {"allocated": total, "freed": nothing, "lost": total, "stale": nothing,
                   "forgotten": nothing, "excluded": nothing, "suppressed": 0, "known": 0},
        "leaks": leaks,
    }
    path.write_text(json.dumps(report))


def main() -> int:
    plumb = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.json"
        make_report(path)
        size_mb = path.stat().st_size / 1e6
        rows = [
            ("top of it as text", ["report", str(path)]),
            ("by file, 50 of them", ["report", "--sort=file", "--limit=50", str(path)]),
            ("as JSON", ["report", "--format=json", f"--output={folder}/copy.json", str(path)]),
            ("as SARIF", ["report", "--format=sarif", f"--output={folder}/copy.sarif", str(path)]),
        ]
        print(f"\n{LEAKS:,} leaks, {size_mb:.0f} MB\n\n| `plumb report` | seconds | peak memory / file size |\n|---|---|---|")
        for name, arguments in rows:
            done = min((measure.run([plumb, *arguments]) for _ in range(3)), key=lambda m: m.wall)
            if done.status != 1:
                print(f"bench: plumb {arguments[0]} ended with {done.status}: {done.stderr.decode()}", file=sys.stderr)
                return 1
            print(f"| {name} | {done.wall:.2f} | {done.peak_kb / 1e3 / size_mb:.1f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
