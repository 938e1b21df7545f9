"""The programs of `./dev bench compiled`: Debian's sources, fetched by name when
they are measured, and bench/compiled/*, which are small, each with a habit of its
own. A program says how it is prepared (once), compiled (by each tool), and run."""

from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent

LUA = """
for round = 1, 3 do
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local t = {}
for i = 1, 200000 do t[i] = {name = "k" .. i, v = i} end
table.sort(t, function(a, b) return a.v * 7919 % 100003 < b.v * 7919 % 100003 end)
local s = 0
for i = 1, #t do s = s + #t[i].name end
print(fib(27), s)
local parts = {}
for i = 1, 100000 do parts[#parts + 1] = tostring(i):rep(2) end
print(#table.concat(parts))
local h = {}
for i = 1, 300000 do h[i % 1000 .. ""] = (h[i % 1000 .. ""] or 0) + i end
local n = 0 for k, v in pairs(h) do n = n + v end print(n)
end
"""
# A little of everything: hashes, sorting, substitution, splitting, objects.
PERL = r"""
my ($sum, %seen) = (0);
for my $round (1 .. 4) {
  my @rows = map { { name => "k" . ($_ * 7919 % 100003), value => $_ } } 1 .. 60000;
  my @sorted = sort { $a->{name} cmp $b->{name} } @rows;
  for my $row (@sorted) {
    (my $word = $row->{name}) =~ s/([0-9])([0-9])/$2-$1/g;
    my @parts = split /-/, $word;
    $seen{$parts[0]} += $row->{value};
    $sum += scalar @parts;
  }
  my $text = join " ", map { $_->{name} } @sorted;
  $sum++ while $text =~ /k(\d)\d*\1\b/g;
}
print "$sum ", scalar(keys %seen), "\n";
"""
SQL = """
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 1500000)
INSERT INTO t SELECT i, hex(i * 7919) FROM n;
CREATE INDEX x ON t(b);
SELECT count(*), min(b), max(b) FROM t WHERE b LIKE '%7%';
SELECT count(*) FROM t a JOIN t b ON a.a = b.a + 1;
"""
TINYXML2 = r"""
#include <cstdio>
#include <string>
#include "tinyxml2.h"
int main() {
  std::string text = "<list>";
  for (int i = 0; i < 20000; i++)
    text += "<item id='" + std::to_string(i) + "'><name>text</name><v>1</v></item>";
  text += "</list>";
  long sum = 0;
  for (int round = 0; round < 120; round++) {
    tinyxml2::XMLDocument document;
    document.Parse(text.c_str());
    for (auto* item = document.RootElement()->FirstChildElement(); item;
         item = item->NextSiblingElement())
      sum += item->IntAttribute("id");
  }
  std::printf("%ld\n", sum);
}
"""
PUGIXML = r"""
#include <cstdio>
#include <string>
#include "pugixml.hpp"
int main() {
  std::string text = "<list>";
  for (int i = 0; i < 20000; i++)
    text += "<item id='" + std::to_string(i) + "'><name>text</name><v>1</v></item>";
  text += "</list>";
  long sum = 0;
  for (int round = 0; round < 400; round++) {
    pugi::xml_document document;
    document.load_string(text.c_str());
    for (pugi::xml_node item : document.child("list")) sum += item.attribute("id").as_int();
    document.child("list").append_child("more").append_attribute("n") = round;
  }
  std::printf("%ld\n", sum);
}
"""
JSON = r"""
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <json/json.h>
int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 300;
  std::string text = "[";
  for (int i = 0; i < 5000; i++)
    text += "{\"id\": " + std::to_string(i) + ", \"name\": \"text\", \"list\": [1, 2, 3]},";
  text += "{}]";
  long sum = 0;
  for (int round = 0; round < rounds; round++) {
    Json::Value document;
    const std::unique_ptr<Json::CharReader> reader(Json::CharReaderBuilder().newCharReader());
    reader->parse(text.data(), text.data() + text.size(), &document, nullptr);
    for (const Json::Value& item : document)
      if (item.isMember("id")) sum += item["id"].asInt() + (long)item["list"].size();
  }
  std::printf("%ld\n", sum);
}
"""


@dataclass
class Program:
    package: str = ""  # none: bench/compiled
    language: str = "C"
    prepare: list[list[str]] = field(default_factory=list)
    # What its configure is told about the compiler.
    configured: list[str] = field(default_factory=lambda: ["CC=clang-19", "CFLAGS=-O2 -g"])
    files: list[str] = field(default_factory=list)  # patterns in the source
    without: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    make: list[str] = field(default_factory=list)  # instead of files: the tree is copied
    binary: str = ""
    written: dict[str, str] = field(default_factory=dict)  # files of ours in the source
    arguments: list[str] = field(default_factory=list)
    stdin: str = ""  # a file in the folder of inputs
    # Its peak is that of the process that writes its report, since it waits for that.
    leaks: bool = False


def filled(word: str, words: dict[str, Path]) -> str:
    """An argument with its folders; other braces are its own (a regular expression's)."""
    for name, path in words.items():
        word = word.replace(f"{{{name}}}", str(path))
    return word


def own(name: str, language: str = "C", times: int = 1) -> Program:
    """`times`: so many times its work, for a run of two seconds."""
    suffix = "cc" if language == "C++" else "c"
    return Program(language=language, files=[f"{name}.{suffix}"],
                   arguments=[str(times)] if times > 1 else [])


TREE = [["./configure", "--disable-nls"], ["make", "-C", "lib"]]
PROGRAMS = {
    "churn": own("churn"),
    "churn, 8 threads": Program(files=["threads.c"], flags=["-pthread"]),
    "machine": own("machine", times=6),
    "tree": own("tree", times=2),
    "words": own("words", times=4),
    "shapes": own("shapes", "C++", times=8),
    "bzip2": Program("bzip2", files=["blocksort.c", "huffman.c", "crctable.c", "randtable.c",
                                     "compress.c", "decompress.c", "bzlib.c", "bzip2.c"],
                     flags=["-D_FILE_OFFSET_BITS=64"], arguments=["-c"], stdin="text"),
    "gzip": Program("gzip", prepare=[["./configure", "--disable-nls"]], make=["make"],
                    binary="gzip", arguments=["-c", "-9"], stdin="text"),
    "grep": Program("grep", prepare=[["./configure", "--disable-nls"]], make=["make"],
                    binary="src/grep", arguments=["-c", "-E", r"([a-z]+ ){3}.*(7|9)\1*3 of",
                                                  *["{folder}/text"] * 10]),
    "diff": Program("diffutils", prepare=[["./configure", "--disable-nls"]], make=["make"],
                    binary="src/diff", arguments=["-d", "-", "{folder}/other"], stdin="text"),
    "patch": Program("patch", prepare=[["./configure", "--disable-nls"]], make=["make"],
                     binary="src/patch",
                     arguments=["-s", "-o", "-", "{folder}/text", "{folder}/changes"]),
    "find": Program("findutils", prepare=[["./configure", "--disable-nls"]], make=["make"],
                    binary="find/find", arguments=[*["/usr"] * 8, "-name", "*.h", "-newer", "/etc/hostname",
                                                   "-o", "-size", "+100k", "-name", "*x*"]),
    "locate": Program("findutils", prepare=[["./configure", "--disable-nls"]], make=["make"],
                      binary="locate/locate", arguments=["-c", "-d", ":".join(["{folder}/files.db"] * 12), "-i",
                                                         "*line*7*delta*9", "/x*gamma*1*2*3"],
                      leaks=True),
    "lua": Program("lua5.4", files=["src/l*.c"], without=["src/luac.c"],
                   flags=["-DLUA_USE_LINUX", "-DLUA_COMPAT_5_3", "-lm", "-ldl", "-Wl,-E"],
                   written={"src/lua5.4-deb-multiarch.h":
                            '#define DEB_HOST_MULTIARCH "x86_64-linux-gnu"\n'},
                   arguments=["{folder}/program.lua"]),
    "sqlite3": Program("sqlite3", prepare=[["./configure"], ["make", "sqlite3.c", "shell.c"]],
                       files=["sqlite3.c", "shell.c"], flags=["-lpthread", "-ldl", "-lm"],
                       arguments=[":memory:"], stdin="query.sql"),
    # miniperl: what is compiled from perl's own files alone.
    "perl": Program("perl", prepare=[["./Configure", "-des"], ["make", "miniperl"]],
                    configured=["-Dcc=clang-19", "-Doptimize=-O2 -g"], files=["*.c"],
                    without=["perlmain.c", "generate_uudmap.c", "op.c", "perl.c", "universal.c",
                             "vutil.c", "malloc.c"],
                    flags=["-DPERL_CORE", "-DPERL_IS_MINIPERL", "-DPERL_EXTERNAL_GLOB", "-fwrapv",
                           "-fno-strict-aliasing", "-D_LARGEFILE_SOURCE", "-D_FILE_OFFSET_BITS=64",
                           "-D_REENTRANT", "-D_GNU_SOURCE", "-I{source}", "-lm", "-lcrypt",
                           "-lpthread", "-ldl"], arguments=["{folder}/program.pl"]),
    "tcc": Program("tcc", prepare=[["./configure"]], configured=["--cc=clang-19"], files=["tcc.c"],
                   flags=["-DONE_SOURCE=1", "-lm", "-ldl", "-lpthread"],
                   arguments=["-B{source}", "-nostdinc", "-c", "{folder}/large.c", "-o", "{folder}/large.o"]),
    "tinyxml2": Program("tinyxml2", "C++", files=["tinyxml2.cpp", "bench_main.cc"],
                        written={"bench_main.cc": TINYXML2}),
    "pugixml": Program("pugixml", "C++", files=["src/pugixml.cpp", "bench_main.cc"],
                       flags=["-I{source}/src"], written={"bench_main.cc": PUGIXML}),
    "jsoncpp": Program("libjsoncpp", "C++", files=["src/lib_json/*.cpp", "bench_main.cc"],
                       flags=["-I{source}/include"], written={"bench_main.cc": JSON}),
}


def locate_database(names: list[str]) -> bytes:
    """As frcode writes it: how many bytes more of the last name a name shares, the rest."""
    entries = [b"\0LOCATE02\0"]
    last, shared_before = "", 0
    for name in names:
        shared = 0
        while shared < min(len(last), len(name)) and last[shared] == name[shared]:
            shared += 1
        change = shared - shared_before
        entries.append(change.to_bytes(1, "big", signed=True) if -128 < change < 128
                       else b"\x80" + change.to_bytes(2, "big", signed=True))
        entries.append(name[shared:].encode() + b"\0")
        last, shared_before = name, shared
    return b"".join(entries)


def write_inputs(folder: Path) -> None:
    """The same bytes every time."""
    words = ["alpha", "beta", "gamma", "delta", "line"]
    lines = [f"{words[i % 5]} {words[i * 7 % 3]} line {i * 7919 % 100003} of some text"
             for i in range(450000)]
    (folder / "text").write_text("\n".join(lines) + "\n")
    (folder / "other").write_text("\n".join(line for i, line in enumerate(lines) if i % 9) + "\n")
    # As diff writes it: each ninth line goes.
    (folder / "changes").write_text("".join(f"{i + 1}d{i - i // 9}\n< {lines[i]}\n"
                                            for i in range(0, len(lines), 9)))
    (folder / "program.lua").write_text(LUA)
    (folder / "program.pl").write_text(PERL)
    names = sorted(f"/{line.replace(' ', '/', 4)}-{i}" for i, line in enumerate(lines))
    (folder / "files.db").write_bytes(locate_database(names))
    (folder / "query.sql").write_text(SQL)
    (folder / "large.c").write_text("".join(
        f"struct s{i} {{ struct s{i} *next; int value[{i % 7 + 1}]; }};\n"
        f"static int f{i}(struct s{i} *p, int n) {{ int k = n * {i} + 1; while (p) {{ k += "
        f"p->value[0] ^ (k << 3); p = p->next; }} return k; }}\n"
        f"int g{i}(int n) {{ struct s{i} a = {{0}}; a.value[0] = n; return f{i}(&a, n); }}\n"
        for i in range(150000)))
