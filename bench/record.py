"""What a measurement has found so far: one line of JSON per result, appended.

A measurement that takes longer than one may want to keep a machine quiet is made
in parts; each adds to the file, and the table is printed from all of it. Results
of another commit or machine do not belong together: --fresh starts anew.
"""

import json
import math
import statistics
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "build" / "bench"


class Record:
    def __init__(self, name: str) -> None:
        self.path = FOLDER / f"{name}.jsonl"

    def forget(self) -> None:
        self.path.unlink(missing_ok=True)

    def add(self, part: str, **result: object) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps({"part": part, **result}) + "\n")

    def rows(self, part: str) -> list[dict]:
        if not self.path.exists():
            return []
        rows = [json.loads(line) for line in self.path.read_text().splitlines()]
        return [row for row in rows if row["part"] == part]


def rounds(seconds: float, most: int, least: int = 3):
    """Numbers of rounds, until the time is over or there are enough. A round that
    would not fit any more is not begun."""
    begin = time.monotonic()
    for number in range(most):
        passed = time.monotonic() - begin
        if number >= least and passed + passed / number > seconds:
            return
        yield number


# Student's t, 97.5%, by degrees of freedom.
T_QUANTILES = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26,
               10: 2.23, 11: 2.20, 12: 2.18, 13: 2.16, 14: 2.14, 15: 2.13, 20: 2.09, 30: 2.04}


class Ratio:
    """Geometric mean of ratios, with its 95% interval."""

    def __init__(self, ratios: list[float]) -> None:
        logs = [math.log(ratio) for ratio in ratios]
        self.mean = math.exp(statistics.mean(logs))
        self.low, self.high = 0.0, math.inf
        if len(logs) > 1:
            freedom = len(logs) - 1
            quantile = T_QUANTILES[max(k for k in T_QUANTILES if k <= freedom)]
            wide = math.exp(quantile * statistics.stdev(logs) / math.sqrt(len(logs)))
            self.low, self.high = self.mean / wide, self.mean * wide

    def __str__(self) -> str:
        if self.high == math.inf:
            return f"{self.mean:.3f}"
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"


def by_round(rows: list[dict], key: str) -> list[dict]:
    """Rows of the rounds that have all values of `key`: whole ones."""
    wanted = {row[key] for row in rows}
    whole = [n for n in {row["round"] for row in rows}
             if {row[key] for row in rows if row["round"] == n} == wanted]
    return [row for row in rows if row["round"] in whole]
