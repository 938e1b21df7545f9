"""Real programs that the dynamic engines are measured on: Debian's own
binaries, each with a command that is the same every time."""

import atexit
import os
import shutil
import subprocess
from pathlib import Path

import measure

PERL = """
my %h; for my $i (1..60000) { $h{"key$i"} = [ $i, "value" x ($i % 7) ]; }
my $n = 0; for my $k (sort keys %h) { $n += length($h{$k}[1]); delete $h{$k} if $n % 3 == 0; }
print "$n\\n";
"""
PYTHON = """
import json
d = {f"k{i}": [i, str(i) * (i % 5)] for i in range(60000)}
t = json.dumps(d)
e = json.loads(t)
print(len(t), sum(len(v[1]) for v in e.values()))
"""
SQL = """
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 120000)
INSERT INTO t SELECT i, hex(i * 7919) FROM n;
CREATE INDEX x ON t(b);
SELECT count(*), min(b), max(b) FROM t WHERE b LIKE '%7%';
"""
C = """
#include <stdio.h>
struct Node { struct Node *next; int value; };
static int sum(struct Node *node) { int n = 0; for (; node; node = node->next) n += node->value; return n; }
int main(void) { struct Node b = {0, 2}, a = {&b, 1}; printf("%d\\n", sum(&a)); }
"""
XML = "<list>" + "".join(f"<item id='{i}'>text {i}</item>" for i in range(3000)) + "</list>"
JSON = "[" + ",".join(f'{{"id": {i}, "name": "n{i}"}}' for i in range(3000)) + "]"
LUA = """
local t = {} for i = 1, 50000 do t[i] = {i, tostring(i)} end
local n = 0 for _, v in ipairs(t) do n = n + #v[2] end print(n)
"""
TCL = "for {set i 0} {$i < 5000} {incr i} { set a($i) [string repeat x $i] }; puts [array size a]"
PO = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n' + "".join(
    f'msgid "text {i}"\nmsgstr "Text {i}"\n\n' for i in range(500))
ROFF = ".TH NAME 1\n.SH SECTION\n" + ".PP\nSome \\fBbold\\fP text that is long enough to be filled.\n" * 200


def compiler(name: str) -> str:
    """gcc's own passes are not in PATH."""
    done = measure.run(["gcc", f"-print-prog-name={name}"])
    return done.stdout.decode().strip() or name


FRCODE = "/usr/lib/locate/frcode"
THREADS = """
import hashlib, json, threading, zlib
def work(n):
    for i in range(100): json.dumps([i] * n); hashlib.sha256(b"x" * n).digest(); zlib.compress(b"a" * n)
threads = [threading.Thread(target=work, args=(i * 10,)) for i in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
"""
RCS = """head 1.2;
access;
symbols;
locks; strict;
comment @# @;

1.2
date 2020.01.02.00.00.00; author a; state Exp;
branches;
next 1.1;

1.1
date 2020.01.01.00.00.00; author a; state Exp;
branches;
next ;

desc
@a file@

1.2
log
@second@
text
@one
two
@

1.1
log
@first@
text
@d2 1
@
"""


def open_display() -> bool:
    """A screen that nobody sees, for as long as this script runs."""
    if not shutil.which("Xvfb"):
        return False
    reading, writing = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(writing), "-screen", "0", "640x480x24", "-nolisten", "tcp"],
                              pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    atexit.register(server.terminate)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        number = pipe.readline().strip()
    os.environ["DISPLAY"] = f":{number}"
    os.environ["NO_AT_BRIDGE"] = "1"
    return bool(number)


def subjects(folder: Path) -> dict[str, list[str]]:
    """Name -> command; only programs that are installed."""
    text = folder / "text.txt"
    text.write_text("".join(f"line {i * 7919 % 100003} of some text\n" for i in range(200000)))
    (folder / "perl.pl").write_text(PERL)
    (folder / "python.py").write_text(PYTHON)
    (folder / "query.sql").write_text(SQL)
    (folder / "c.c").write_text(C)
    (folder / "list.xml").write_text(XML)
    (folder / "list.json").write_text(JSON)
    (folder / "lua.lua").write_text(LUA)
    (folder / "tcl.tcl").write_text(TCL)
    (folder / "po.po").write_text(PO)
    (folder / "threads.py").write_text(THREADS)
    (folder / "file.txt,v").write_text(RCS)
    if Path(FRCODE).exists():
        names = "".join(sorted(f"/some/folder/name{i}\n" for i in range(20000)))
        (folder / "names.db").write_bytes(subprocess.run([FRCODE], input=names.encode(), capture_output=True).stdout)
    (folder / "page.1").write_text(ROFF)
    (folder / "s.s").write_text("".join(f"f{i}: mov ${i}, %eax\n ret\n" for i in range(2000)))
    (folder / "sum.bc").write_text("s = 0\nfor (i = 0; i < 3000; i++) s += i^3\ns\nquit\n")
    (folder / "small.txt").write_text("one\ntwo\nthree\n")
    (folder / "small.diff").write_text("--- small.txt\n+++ small.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n")
    t = str(text)
    f = lambda name: str(folder / name)  # noqa: E731
    commands = {
        "perl": ["perl", str(folder / "perl.pl")],
        "python3": ["/usr/bin/python3", "-S", str(folder / "python.py")],
        "sqlite3": ["sqlite3", "-init", str(folder / "query.sql"), ":memory:", ".quit"],
        "sort": ["sort", "--parallel=2", t],
        "grep": ["grep", "-c", "-E", "7.*3 of", t],
        "awk": ["awk", "{ n[$2 % 1000] += length($0) } END { for (k in n) s += n[k]; print s }", t],
        "sed": ["sed", "-n", "s/line \\([0-9]*\\)5 of/\\1/p", t],
        "bash": ["bash", "-c", "for i in {1..20000}; do x[i]=$((i*i)); done; echo ${#x[@]}"],
        "tar": ["tar", "-cf", "/dev/null", "/usr/include"],
        "find": ["find", "/usr/include", "-name", "*.h", "-newer", "/etc/passwd"],
        "git": ["git", "-C", str(Path(__file__).parent), "log", "--stat"],
        "xz": ["xz", "-T2", "-k", "-c", "-1", t],
        "gzip": ["gzip", "-c", t],
        "bzip2": ["bzip2", "-c", t],
        "diff": ["diff", t, "/dev/null"],
        "ld": ["ld", "--version"],
        "objdump": ["objdump", "-d", "/bin/ls"],
        "ls": ["ls", "-lR", "/usr/include"],
        "openssl": ["openssl", "dgst", "-sha256", t],
        "cmake": ["cmake", "--help-full"],
        "file": ["file", "/bin/ls"],
        "make": ["make", "-f", "/dev/null", "-p"],
        "cc1": [compiler("cc1"), "-quiet", "-O2", f("c.c"), "-o", f"{t}.s"],
        "as": ["as", f("s.s"), "-o", f"{t}.o"],
        "nm": ["nm", "-D", "/bin/ls"],
        "readelf": ["readelf", "-a", "/bin/ls"],
        "dash": ["dash", "-c", "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); x=$x$i; done; echo ${#x}"],
        "lua": ["lua5.4", f("lua.lua")],
        "tclsh": ["tclsh", f("tcl.tcl")],
        "vim": ["vim", "-u", "NONE", "-i", "NONE", "-es", "-c", "%s/line/row/g", "-c", "q!", f("small.txt")],
        "ed": ["ed", "-s", f("small.txt")],
        "patch": ["patch", "--dry-run", f("small.txt"), f("small.diff")],
        "jq": ["jq", "map(.id) | add", f("list.json")],
        "xmllint": ["xmllint", "--noout", f("list.xml")],
        "curl": ["curl", "-s", "-o", "/dev/null", f"file://{t}"],
        "bc": ["bc", "-q", f("sum.bc")],
        "msgfmt": ["msgfmt", f("po.po"), "-o", f"{t}.mo"],
        "zstd": ["zstd", "-q", "-c", t],
        "lz4": ["lz4", "-q", "-c", t],
        "troff": ["troff", "-man", f("page.1")],
        "gdb": ["gdb", "-nx", "-batch", "-ex", "info functions main", "/bin/ls"],
        "zip": ["zip", "-q", "-", t],
        "co": ["co", "-p1.1", "-q", f("file.txt,v")],
        "rlog": ["rlog", f("file.txt,v")],
        "locate": ["locate", "-d", f("names.db"), "-c", "name7"],
        "ffmpeg": ["ffmpeg", "-v", "quiet", "-f", "lavfi", "-i", "testsrc=d=0.4:s=64x64", "-f", "null", "-"],
        "threads": ["/usr/bin/python3", "-S", f("threads.py")],
    }
    if shutil.which("gxmessage") and open_display():
        commands["gxmessage"] = ["gxmessage", "-timeout", "1", "some text"]
    return {name: command for name, command in commands.items() if shutil.which(command[0])}
