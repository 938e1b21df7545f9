"""Real programs that the dynamic engines are measured on: Debian's own
binaries, each with a command that is the same every time."""

import shutil
from pathlib import Path

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


def subjects(folder: Path) -> dict[str, list[str]]:
    """Name -> command; only programs that are installed."""
    text = folder / "text.txt"
    text.write_text("".join(f"line {i * 7919 % 100003} of some text\n" for i in range(200000)))
    (folder / "perl.pl").write_text(PERL)
    (folder / "python.py").write_text(PYTHON)
    (folder / "query.sql").write_text(SQL)
    t = str(text)
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
    }
    return {name: command for name, command in commands.items() if shutil.which(command[0])}
