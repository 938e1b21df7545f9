#!/usr/bin/env python3
"""`plumb check` on input that is broken or absurdly large.

    hostile.py --plumb=PLUMB [--scale=small|large] [--only=KIND,...] [--verbose]

Each kind is generated anew, the same for the same scale. What must hold: the command
ends by itself (never by a signal), within the limit, with one of its own statuses;
where a leak was put in and the budgets allow it, it is found; where a budget was hit
or a unit was left out, the report says so. Prints one line for each kind.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

LEAK = "void known_leak(int n) { char *p = malloc(16); if (n > 9) return; free(p); }\n"
HEAD = "#include <stdlib.h>\n"


@dataclass
class Input:
    files: list[Path]
    leaks: bool = True  # known_leak() is in it and must be found
    statuses: tuple[int, ...] = (0, 1)
    options: list[str] = field(default_factory=list)


def write(path: Path, parts) -> Path:
    with path.open("w") as out:
        out.writelines(parts)
    return path


def blocks(folder: Path, scale: dict) -> list[Input]:
    """One function with many blocks, and a block of memory that lives across all."""
    def parts():
        yield HEAD + LEAK + "int many(int *a) {\n  char *p = malloc(8);\n  int n = 0;\n"
        for i in range(scale["blocks"] // 3):
            yield f"  if (a[{i}]) n += {i};\n"
        yield "  free(p);\n  return n;\n}\n"
    return [Input([write(folder / "blocks.c", parts())])]


def gotos(folder: Path, scale: dict) -> list[Input]:
    """Loops across each other: every label is the target of a jump back."""
    count = scale["blocks"] // 20

    def parts():
        yield HEAD + LEAK + "int tangled(int *a) {\n  char *p = malloc(8);\n"
        for i in range(count):
            yield f"l{i}: if (*a++) goto l{(i * 7919) % count};\n"
        yield "  free(p);\n  return 0;\n}\n"
    return [Input([write(folder / "gotos.c", parts())])]


def calls(folder: Path, scale: dict) -> list[Input]:
    """A chain of calls; the first gives a block to the last."""
    count = scale["calls"]

    def parts():
        yield HEAD + LEAK + "void call_0(char *p) { free(p); }\n"
        for i in range(1, count):
            yield f"void call_{i}(char *p) {{ call_{i - 1}(p); }}\n"
        yield f"void top(void) {{ call_{count - 1}(malloc(8)); }}\n"
        yield "char *up_0(void) { return malloc(8); }\n"
        for i in range(1, count):
            yield f"char *up_{i}(void) {{ return up_{i - 1}(); }}\n"
    return [Input([write(folder / "calls.c", parts())])]


def cycle(folder: Path, scale: dict) -> list[Input]:
    """One component of the call graph."""
    count = scale["calls"] // 20

    def parts():
        yield HEAD + LEAK
        for i in range(count):
            yield f"void turn_{i}(char *p, int n);\n"
        for i in range(count):
            yield (f"void turn_{i}(char *p, int n) {{ if (n) {{ turn_{(i + 1) % count}(p, n - 1); "
                   f"turn_{(i * 31 + 7) % count}(p, n - 2); }} else free(p); }}\n")
    return [Input([write(folder / "cycle.c", parts())])]


def nested(folder: Path, scale: dict) -> list[Input]:
    """Calls within calls, as far as the compiler goes."""
    depth = 250
    text = HEAD + LEAK + "int f(int, int);\nint deep(int n) { return " + "f(" * depth + "n"
    return [Input([write(folder / "nested.c", [text + ", 1)" * depth + "; }\n"])])]


def given(folder: Path, scale: dict) -> list[Input]:
    """Functions that hand on what they are given, callers first, and many to be given."""
    count = scale["calls"] // 4

    def parts():
        yield HEAD + LEAK + "void hand_0(void (*f)(char *), char *p);\n"
        for i in range(count):
            yield (f"void hand_{i + 1}(void (*f)(char *), char *p);\n"
                   f"void hand_{i}(void (*f)(char *), char *p) {{ hand_{i + 1}(f, p); }}\n")
        yield f"void hand_{count}(void (*f)(char *), char *p) {{ f(p); hand_0(f, 0); }}\n"
        for i in range(count):
            yield (f"static void taker_{i}(char *p) {{ free(p); }}\n"
                   f"void give_{i}(void) {{ hand_{i}(taker_{i}, malloc({i + 1})); }}\n")
    return [Input([write(folder / "given.c", parts())])]


def switches(folder: Path, scale: dict) -> list[Input]:
    def parts():
        yield HEAD + LEAK + "int choose(int n) {\n  char *p = malloc(8);\n  int r = 0;\n  switch (n) {\n"
        for i in range(scale["cases"]):
            yield f"  case {i * 3}: r = {i}; {'break;' if i % 5 else 'p[0] = 1;'}\n"
        yield "  }\n  free(p);\n  return r;\n}\n"
    return [Input([write(folder / "switches.c", parts())])]


def types(folder: Path, scale: dict) -> list[Input]:
    """Structures in structures, and structures that point to each other."""
    def parts():
        yield HEAD + LEAK + "struct in_0 { char *p; };\n"
        for i in range(1, scale["types"]):
            yield f"struct in_{i} {{ struct in_{i - 1} in; struct in_{i} *next; }};\n"
        last = scale["types"] - 1
        member = ".in" * min(last, 200)
        yield (f"void deep_type(struct in_{last} *s) {{ struct in_{last} t = *s; "
               f"free(((struct in_0 *)&t{member})->p); }}\n")
    return [Input([write(folder / "types.c", parts())])]


def lists(folder: Path, scale: dict) -> list[Input]:
    """Deep access paths: s->next->next->..."""
    path = "->next" * 200

    def parts():
        yield HEAD + LEAK + "struct node { struct node *next; char *p; };\n"
        for i in range(scale["calls"] // 100):
            yield f"void path_{i}(struct node *s) {{ s{path}->p = malloc({i + 1}); free(s{path}->p); }}\n"
    return [Input([write(folder / "lists.c", parts())])]


def bulk(folder: Path, scale: dict) -> list[Input]:
    """Much of the ordinary."""
    def parts():
        yield HEAD + LEAK
        size, i = 0, 0
        while size < scale["bytes"]:
            text = (f"int bulk_{i}(int n, char **out) {{\n  char *p = malloc(n + {i});\n"
                    f"  if (!p) return -1;\n  for (int i = 0; i < n; i++) p[i] = (char)(i * {i});\n"
                    f"  if (n > {i}) {{ free(p); return {i}; }}\n  *out = p;\n  return 0;\n}}\n")
            size += len(text)
            i += 1
            yield text
    return [Input([write(folder / "bulk.c", parts())])]


def bitcode(folder: Path, scale: dict) -> list[Input]:
    """Cut off, flipped, random, not what its name says; beside one that is good."""
    good = write(folder / "good.c", [HEAD + LEAK])
    whole = folder / "whole.bc"
    subprocess.run(["clang-19", "-g", "-O0", "-emit-llvm", "-c", str(good), "-o", str(whole)],
                   check=True)
    text = folder / "whole.ll"
    subprocess.run(["clang-19", "-g", "-O0", "-emit-llvm", "-S", str(good), "-o", str(text)],
                   check=True)
    dice = random.Random(9)
    files = []
    for i in range(scale["broken"]):
        for source in (whole, text):
            data = bytearray(source.read_bytes())
            kind = i % 4
            if kind == 0:
                data = data[:dice.randrange(len(data))]
            elif kind == 1:
                for _ in range(1 + i % 5):
                    data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
            elif kind == 2:
                data = data[:8] + dice.randbytes(len(data))
            else:
                at = dice.randrange(len(data))
                data = data[:at] + data[dice.randrange(len(data)):]
            path = folder / f"broken{i}{source.suffix}"
            path.write_bytes(bytes(data))
            files.append(path)
    # A flipped bit may leave another program: all of them at once, and each alone.
    return [Input([good, *files], leaks=False)] + [
        Input([path], leaks=False, statuses=(0, 1, 2)) for path in files[:scale["alone"]]]


def units(folder: Path, scale: dict) -> list[Input]:
    """Files of `plumb model`, damaged; and such as are named like one."""
    good = write(folder / "good.c", [HEAD + LEAK])
    unit = folder / "good.unit"
    subprocess.run([PLUMB, "model", str(good), "-o", str(unit)], check=True)
    data = unit.read_bytes()
    dice = random.Random(11)
    files = []
    for i in range(scale["alone"]):
        broken = bytearray(data)
        if i % 2:
            broken = broken[:dice.randrange(len(broken))]
        else:
            broken[dice.randrange(len(broken))] ^= 1 << dice.randrange(8)
        path = folder / f"broken{i}.unit"
        path.write_bytes(bytes(broken))
        files.append(path)
    return [Input([unit, *files])] + [Input([path], False, (2,)) for path in files[:2]]


KINDS = {f.__name__: f for f in (blocks, gotos, calls, cycle, given, nested, switches, types, lists, bulk,
                                 bitcode, units)}
SCALES = {
    "small": {"blocks": 3000, "calls": 1000, "cases": 1000, "types": 300, "bytes": 200_000,
              "broken": 6, "alone": 3, "limit": 120},
    "large": {"blocks": 100_000, "calls": 10_000, "cases": 10_000, "types": 3000,
              "bytes": 50_000_000, "broken": 60, "alone": 30, "limit": 1800},
}
PLUMB = ""


def judge(given: Input, limit: float) -> tuple[str, str]:
    """What is wrong, or nothing; and what the report says of limits."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        try:
            done = subprocess.run(
                [PLUMB, "check", "--no-cache", "--jobs=2", "--format=json", f"--output={file.name}",
                 *given.options, *map(str, given.files)],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=limit)
        except subprocess.TimeoutExpired:
            return f"not finished after {limit} s", ""
        if done.returncode not in given.statuses:
            return f"status {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}", ""
        if done.returncode == 2:
            return "", "refused"
        report = json.loads(Path(file.name).read_text())
    notes = "; ".join(note["text"] for note in report["notes"] if note["code"] != "skipped-unit")
    skipped = sum(note["code"] == "skipped-unit" for note in report["notes"])
    found = any(frame.get("function") == "known_leak" for leak in report["leaks"]
                for frame in leak["allocation"]["stack"])
    said = f"{len(report['leaks'])} findings" + (f", {skipped} units left out" if skipped else "")
    if given.leaks and not found and not skipped:
        return "the leak that was put in is not found", said
    return "", said + (f", {notes}" if notes else "")


def main() -> int:
    global PLUMB
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plumb", required=True)
    parser.add_argument("--scale", choices=SCALES, default="small")
    parser.add_argument("--only", default=",".join(KINDS))
    options = parser.parse_args()
    PLUMB = options.plumb
    scale = SCALES[options.scale]
    failed = 0
    for name in options.only.split(","):
        with tempfile.TemporaryDirectory() as folder:
            start = time.monotonic()
            wrong, said = "", ""
            inputs = KINDS[name](Path(folder), scale)
            for given in inputs:
                problem, text = judge(given, scale["limit"])
                wrong, said = wrong or problem, said or text
            seconds = time.monotonic() - start
        failed += bool(wrong)
        print(f"{name}: {'FAILED: ' + wrong if wrong else 'good'} ({len(inputs)} runs, "
              f"{seconds:.1f} s; {said})", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
