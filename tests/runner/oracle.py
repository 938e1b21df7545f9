#!/usr/bin/env python3
"""Do the annotated cases tell the truth? Asks memcheck and LeakSanitizer.

    oracle.py [--oracles=memcheck,lsan] [--filter=GLOB]

Prints, per case, where an oracle disagrees with the annotation beyond the gaps
that the case grants it, and a table of agreement at the end. A new case is
finished when both agree or a GAP says why not.
Exit status: 0 full agreement, 1 not, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--oracles", default="memcheck,lsan")
    parser.add_argument("--build-dir", type=Path, default=Path("build/cases"))
    options, rest = parser.parse_known_args()
    worst = 0
    for oracle in options.oracles.split(","):
        done = subprocess.run([sys.executable, str(HERE / "run_cases.py"), f"--engine={oracle}",
                               f"--build-dir={options.build_dir}", *rest])
        worst = max(worst, done.returncode)
    print("the oracles agree with the annotations" if worst == 0 else "the oracles disagree")
    return worst


if __name__ == "__main__":
    sys.exit(main())
