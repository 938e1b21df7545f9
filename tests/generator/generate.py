#!/usr/bin/env python3
"""Writes random programs whose leaks are known by construction.

    generate.py --seed=7 --lang=c --out=DIR

writes DIR/gen_c_7.c, annotated as the cases are, and beside it the truth as
DIR/gen_c_7.json. The same seed gives the same bytes. A program is a handful of
stories: an item is made (items.py), travels (journeys.py) and meets its fate
(fates.py); some stories run in threads of their own.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "runner"))

from fates import random_fate  # noqa: E402
from items import lines, random_item  # noqa: E402
from journeys import null, travel  # noqa: E402
from program import Line, Program, truth_json  # noqa: E402

SUFFIX = {"c": ".c", "c++": ".cc"}


def add_story(p: Program) -> str:
    """One item, its journey and its fate; the function that tells it."""
    item = random_item(p)
    source = travel(p, item)
    return random_fate(p, leaky=p.random.random() < 0.5)(p, item, source)


def call_plain(p: Program, function: str) -> None:
    p.main.append(Line(f"  {function}();"))


def call_in_threads(p: Program, functions: list[str]) -> None:
    """Starts them together, then joins them all."""
    p.includes.add("<pthread.h>")
    array = p.name("threads")
    starts, joins = [], []
    for i, function in enumerate(functions):
        entry = p.name("entry")
        p.add_function(lines(f"""
static void* {entry}(void* unused) {{
  {function}();
  return unused;
}}"""))
        starts.append(f"  pthread_create(&{array}[{i}], {null(p)}, {entry}, {null(p)});")
        joins.append(f"  pthread_join({array}[{i}], {null(p)});")
    p.main += [Line(text) for text in [f"  pthread_t {array}[{len(functions)}];", *starts, *joins]]


def generate(seed: int, lang: str) -> Program:
    p = Program(seed, lang)
    stories = [add_story(p) for _ in range(p.random.randint(3, 9))]
    while stories:
        if len(stories) > 1 and p.random.random() < 0.2:
            count = p.random.randint(1, min(3, len(stories)))
            call_in_threads(p, [stories.pop(0) for _ in range(count)])
        else:
            call_plain(p, stories.pop(0))
    return p


def write_if_new(path: Path, text: str) -> None:
    """Leaves an equal file alone, so that what was built of it stays valid."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def write_program(seed: int, lang: str, folder: Path) -> Path:
    """The source's path; truth and header are beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    program = generate(seed, lang)
    source = folder / f"gen_{lang.replace('+', 'x')}_{seed}{SUFFIX[lang]}"
    text, truth = program.assemble()
    write_if_new(source, text)
    write_if_new(source.with_suffix(".json"),
                 json.dumps(truth_json(program, truth, source.name), indent=1) + "\n")
    write_if_new(folder / "case.h", (HERE.parent / "cases" / "case.h").read_text())
    return source


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--lang", choices=sorted(SUFFIX), default="c")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    options = parser.parse_args()
    print(write_program(options.seed, options.lang, options.out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
