#!/usr/bin/env python3
"""Do the removals of the optimiser's side change where losses are said to be?

usage: injected.py PLUMB [--work=DIR] [--only=NAME,...] [--share=PERCENT] [--seed=N] [--show]

Each program is built twice by `plumb cc` at -O2: as always, and with every mark kept
(PLUMB_PASS_KEEP=1). Both run with the same frees left out (PLUMB_OPTIONS=drop_frees=):
the free's number decides, so that the same blocks are dropped in both. Blocks are
compared by where they were allocated: of those allocated at one place, as many as have
the same place of loss in both builds (function, line, holder) are the same. A function
that calls the next one last is in one build's stacks and not in the other's, at times:
it is passed over. --show prints each difference, so that it can be explained.
"""

import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from compiled import Bench
from compiled_programs import PROGRAMS

LUA = """
local t = {}
for i = 1, 3000 do t[i] = {name = "k" .. i, v = i, f = function() return i end} end
table.sort(t, function(a, b) return a.v * 7919 % 100003 < b.v * 7919 % 100003 end)
local parts = {}
for i = 1, #t do parts[#parts + 1] = (t[i].name .. t[i].f()):rep(3) end
local co = coroutine.wrap(function() for i = 1, 200 do coroutine.yield({i}) end end)
for i = 1, 100 do parts[#parts + 1] = tostring(co()[1]) end
local ok, problem = pcall(function() error({code = #table.concat(parts)}) end)
print(ok, problem.code, select("#", string.gsub(table.concat(parts), "%d+", {["1"] = "x"})))
for round = 1, 20 do
  local chunk = load("local a = {...} return function(x) return x .. #a end")
  t[round] = chunk(round, round)("y")
end
t = nil collectgarbage()
"""
SQL = """
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 2000)
INSERT INTO t SELECT i, hex(i * 7919) FROM n;
CREATE INDEX x ON t(b);
CREATE VIEW v AS SELECT a.b AS one, b.b AS two FROM t a JOIN t b ON a.a = b.a + 1;
SELECT count(*), min(one), max(two) FROM v WHERE one LIKE '%7%' GROUP BY length(two);
SELECT group_concat(b) FROM (SELECT b FROM t ORDER BY b DESC LIMIT 50);
CREATE TRIGGER g AFTER DELETE ON t BEGIN UPDATE t SET b = old.b WHERE a = old.a + 1; END;
DELETE FROM t WHERE a % 17 = 3;
SELECT printf('%s-%d', b, a) FROM t WHERE a IN (SELECT a + 1 FROM t WHERE b > 'F') LIMIT 20;
DROP VIEW v; DROP TABLE t; SELECT * FROM missing;
"""
TCC = """
#define TWICE(x) ((x) + (x))
#define NAME(a, b) a##b
struct node { struct node *next; int value[4]; union { int i; char *s; } u; };
static int NAME(f, 1)(struct node *p, int n) {
  int k = TWICE(n); while (p) { k += p->value[k & 3] ^ (k << 3); p = p->next; } return k;
}
static const char *names[] = {"one", "two", "three"};
""" + "".join(f"""
enum e{i} {{ A{i}, B{i} = {i} }};
int g{i}(int n) {{ struct node a = {{0, {{n, B{i}}}}}; switch (n) {{ case 1: return f1(&a, n);
  case B{i} + 2: goto out; default: n += names[n & 1][0]; }} out: return n + sizeof(enum e{i}); }}
""" for i in range(300))
# What each is run with; small, since what is dropped stays.
RUNS = {
    "lua": (["{folder}/injected.lua"], "", {"injected.lua": LUA}),
    "sqlite3": ([":memory:"], "injected.sql", {"injected.sql": SQL}),
    "tcc": (["-B{source}", "-nostdinc", "-c", "{folder}/injected.c", "-o", "{folder}/injected.o"],
            "", {"injected.c": TCC}),
    "jsoncpp": (["2"], "", {}),
}
MOST_PASSED = 2  # frames that one of two stacks may lack


def place_of(leak: dict) -> tuple:
    loss = leak.get("loss") or {}
    frame = (loss.get("stack") or [{}])[0]
    return (frame.get("function", ""), frame.get("line", 0),
            (loss.get("holder") or {}).get("name", ""), loss.get("cause", ""))


def origin_of(leak: dict) -> tuple:
    frames = leak["allocation"]["stack"]
    return tuple((f.get("function", ""), f.get("line", 0)) for f in frames[:8])


def is_same_way(one: tuple, other: tuple) -> bool:
    """The same frames, but for some that one of them has not."""
    i = j = passed = 0
    while i < len(one) and j < len(other):
        if one[i] == other[j]:
            i, j = i + 1, j + 1
        elif one[i] in other[j:]:
            j, passed = j + 1, passed + 1
        elif other[j] in one[i:]:
            i, passed = i + 1, passed + 1
        else:
            return False
    return passed <= MOST_PASSED


def by_the_same_ways(found: dict, names: dict) -> dict:
    """`found`, with the ways of `names` where they are the same."""
    out: dict[tuple, collections.Counter] = collections.defaultdict(collections.Counter)
    for origin, places in found.items():
        known = origin if origin in names else next(
            (name for name in names if name not in found and is_same_way(name, origin)), origin)
        out[known] += places
    return out


def losses(binary: Path, name: str, bench: Bench, drops: str, output: Path) -> dict:
    arguments, stdin, files = RUNS[name]
    words = {"folder": bench.work, "source": bench.work / f"prepared-{PROGRAMS[name].package}"}
    for file, text in files.items():
        (bench.work / file).write_text(text)
    output.unlink(missing_ok=True)
    done = subprocess.run(
        [str(binary), *[a.format(**words) for a in arguments]], capture_output=True, timeout=300,
        stdin=open(bench.work / stdin) if stdin else subprocess.DEVNULL,
        env={**os.environ, "PLUMB_OPTIONS": f"drop_frees={drops}:output={output}"})
    if not output.exists():
        raise RuntimeError(f"{name}: no report ({done.returncode}): {done.stderr[-300:]}")
    found: dict[tuple, collections.Counter] = collections.defaultdict(collections.Counter)
    for leak in json.loads(output.read_text())["leaks"]:
        if leak["kind"] == "lost":
            found[origin_of(leak)][place_of(leak)] += leak["blocks"]
    return found


def built(name: str, bench: Bench, keep: bool) -> Path:
    if keep:
        os.environ["PLUMB_PASS_KEEP"] = "1"
    try:
        path, _ = bench.binary(name, "full")
    finally:
        os.environ.pop("PLUMB_PASS_KEEP", None)
    target = bench.work / f"injected-{name}-{'all' if keep else 'full'}"
    shutil.copy2(path, target)
    path.unlink()
    return target


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("plumb")
    parser.add_argument("--work")
    parser.add_argument("--only", default="")
    parser.add_argument("--share", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    work = Path(given.work or tempfile.mkdtemp(prefix="plumb-injected-")).resolve()
    work.mkdir(parents=True, exist_ok=True)
    bench = Bench(str(Path(given.plumb).resolve()), work)
    names = [name for name in given.only.split(",") if name] or list(RUNS)
    print("| program | blocks lost | with a place | same place as with all marks | same line |\n"
          "|---|---|---|---|---|")
    worst = 1.0
    for name in names:
        every, usual = (
            losses(built(name, bench, keep), name, bench, f"{given.share}/{given.seed}",
                   work / f"injected-{name}.json") for keep in (True, False))
        usual = by_the_same_ways(usual, every)
        total = sum(sum(places.values()) for places in every.values())
        same = sum(sum((places & usual.get(origin, collections.Counter())).values())
                   for origin, places in every.items())
        lines = 0
        for origin, places in every.items():
            one, two = collections.Counter(), collections.Counter()
            for place, count in places.items():
                one[place[:2]] += count
            for place, count in usual.get(origin, {}).items():
                two[place[:2]] += count
            lines += sum((one & two).values())
            if given.show and places != usual.get(origin):
                print(f"  {origin[1:4]}\n    all marks: {dict(places - usual.get(origin, collections.Counter()))}"
                      f"\n    removed:   {dict(usual.get(origin, collections.Counter()) - places)}",
                      file=sys.stderr)
        placed = sum(count for places in usual.values() for place, count in places.items() if place[0])
        print(f"| {name} | {total:,} | {placed:,} | {same:,} = {100 * same / total:.1f}% "
              f"| {lines:,} = {100 * lines / total:.1f}% |", flush=True)
        worst = min(worst, same / total)
    if not given.work:
        shutil.rmtree(work, ignore_errors=True)
    return 0 if worst >= 0.95 else 1


if __name__ == "__main__":
    sys.exit(main())
