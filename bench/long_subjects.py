"""The same kind of programs with work for two seconds and more: what is fixed (the
start, the scan, naming the stacks) must not decide what allocation costs."""

import shutil
from pathlib import Path

import measure
import subjects

PERL = subjects.PERL.replace("60000", "900000")
PYTHON = subjects.PYTHON.replace("60000", "700000")
SQL = subjects.SQL.replace("120000", "2400000")
LUA = subjects.LUA.replace("50000", "3000000")
AWK = "{ n[$2 \" \" NF] += length($0) } END { for (k in n) s += n[k]; print s }"
TCL = """
for {set r 0} {$r < 34} {incr r} { for {set i 0} {$i < 100000} {incr i} { dict set d $i [list $i [string repeat x 9]] } }
puts [dict size $d]
"""
LINES = 3_000_000


def make_repository(folder: Path) -> str:
    """A history of its own: the same everywhere."""
    lines = [f"line {i} of the file" for i in range(400)]
    stream = []
    for commit in range(20000):
        lines[commit * 7 % 400] = f"line changed by {commit}"
        text = "\n".join(lines) + "\n"
        message = f"change {commit}\n"
        stream.append(f"commit refs/heads/main\ncommitter A <a@b> {1_600_000_000 + commit} +0000\n"
                      f"data {len(message)}\n{message}M 644 inline f{commit % 9}.txt\ndata {len(text)}\n{text}\n")
    repository = str(folder / "repository")
    measure.run(["git", "init", "-q", "--initial-branch=main", repository])
    measure.run(["git", "-C", repository, "fast-import", "--quiet"], stdin="".join(stream).encode())
    return repository


def make_source(folder: Path) -> str:
    """Functions that a compiler has to think about."""
    body = "int f{0}(int *a, int n) {{ int s = {0}; for (int i = 0; i < n; i++) {{ if (a[i] > s) s += a[i] * {0}; else s ^= a[n - i - 1]; " \
           "switch (s & 7) {{ case 0: s += 3; break; case 1: s -= a[0]; break; case 5: s *= 7; }} }} return s; }}\n"
    (folder / "large.c").write_text("".join(body.format(i) for i in range(480)))
    return str(folder / "large.c")


def long_subjects(folder: Path) -> dict[str, list[str]]:
    """Name -> command; only programs that are installed."""
    def put(name: str, text: str) -> str:
        (folder / name).write_text(text)
        return str(folder / name)

    text = put("long.txt", "".join(f"line {i * 7919 % 1000003} of some text\n" for i in range(LINES)))
    json = put("long.json", "[" + ",".join(f'{{"id": {i}, "name": "n{i}"}}' for i in range(1_300_000)) + "]")
    xml = put("long.xml", "<list>" + "".join(f"<item id='{i}'>text {i}</item>" for i in range(4_000_000)) + "</list>")
    commands = {
        "perl": ["perl", put("long.pl", PERL)],
        "python3": ["/usr/bin/python3", "-S", put("long.py", PYTHON)],
        "sqlite3": ["sqlite3", "-init", put("long.sql", SQL), ":memory:", ".quit"],
        "sort": ["sort", "--parallel=2", text],
        "awk": ["awk", AWK, text],
        "git": ["git", "-C", make_repository(folder), "log", "-p", "--stat", "--patience"],
        "cc1": [subjects.compiler("cc1"), "-quiet", "-O2", make_source(folder), "-o", "/dev/null"],
        "lua": ["lua5.4", put("long.lua", LUA)],
        "tclsh": ["tclsh", put("long.tcl", TCL)],
        "jq": ["jq", "map(.id) | add", json],
        "xmllint": ["xmllint", "--noout", xml],
    }
    return {name: command for name, command in commands.items() if shutil.which(command[0])}
