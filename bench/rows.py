"""Results of a measurement that is made in parts: a file of rows by name.

Each part adds its rows; the table is printed from all that are there, so a long
measurement can be stopped, gone on with, or repeated for one row. Without a file
the rows are those of this run.
"""

import json
import os
from pathlib import Path


class Rows:
    def __init__(self, path: str | None):
        self.path = Path(path) if path else None
        self.rows: dict[str, dict] = {}
        if self.path and self.path.exists():
            self.rows = json.loads(self.path.read_text())

    def put(self, name: str, row: dict) -> None:
        self.rows[name] = row
        if not self.path:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_name(self.path.name + ".new")
        partial.write_text(json.dumps(self.rows, indent=1) + "\n")
        os.replace(partial, self.path)
