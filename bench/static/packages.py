"""`plumb check` on Debian's source packages: findings, CPU and memory, beside peers.

Each package is fetched by name at run time (apt-get source), configured and built
once under bear, which writes down the compile commands; what cannot be had is
named, never silently left out. Then, on the same units:

  clang     clang-19 -O0 -g -c, the measure of all others
  cold      plumb check -p with an empty cache
  warm      again, nothing changed
  touched   again, after a function was added to one file of middling size
  CSA       clang-19 --analyze, file by file
  GCC       gcc-12 -fanalyzer, file by file, C only

CPU is user plus system of all processes, by their own accounts: other work on the
machine makes it a few percent larger, not twice. Findings are compared with
bench/static/labels, which people wrote after reading the code; what has no label
is counted apart.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import measure  # noqa: E402
import packages as sources  # noqa: E402
from static.tools import Csa, Gcc  # noqa: E402

LABELS = Path(__file__).resolve().parent / "labels"
JOBS = 2
LONGEST = 300  # seconds for one unit of a peer
SOURCE = re.compile(r"\.(c|cc|cpp|cxx)$")


@dataclass
class Package:
    """How to get compile commands. What the build prints and makes is not looked at."""

    language: str = "C"
    configure: list[str] = field(default_factory=lambda: ["./configure", "--disable-nls"])
    build: list[str] = field(default_factory=lambda: ["make", f"-j{JOBS}", *sources.KEEP])
    only: str = ""  # of the units, those whose path matches; empty: all
    source: str = ""  # the name of the source package, when it is another
    half: str = ""  # of the sample of findings (sample.py): develop or report


CMAKE = ("cmake", "-S", ".", "-B", "build", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")

PACKAGES = {
    # Debian's makefile wants its own libtool and a header of debian/rules; there is
    # nothing else in it but compiling.
    "lua5.4": Package(configure=["sh", "-c", "echo '#define DEB_HOST_MULTIARCH \"x86_64-linux-gnu\"'"
                                 " > src/lua5.4-deb-multiarch.h"], build=["sh", "-c", "cd src && for f in *.c; do "
                                                 "cc -DLUA_USE_LINUX -c $f -o $f.o; done"]),
    "tar": Package(configure=["env", "FORCE_UNSAFE_CONFIGURE=1", "./configure", "--disable-nls"]),
    "findutils": Package(),
    "less": Package(configure=["./configure"]),
    "patch": Package(),
    "lighttpd": Package(configure=["./configure", "--without-pcre2", "--without-pcre",
                                   "--without-bzip2", "--without-zlib"]),
    "openssh": Package(configure=["sh", "-c", "touch configure config.h.in && ./configure"]),
    "curl": Package(configure=["./configure", "--without-ssl", "--disable-ldap"]),
    "redis": Package(configure=["true"],
                     build=["make", f"-j{JOBS}", "MALLOC=libc", "USE_SYSTEMD=no",
                            "OPTIMIZATION=-O0"]),
    "wget": Package(configure=["./configure", "--disable-nls", "--without-ssl", "--without-libpsl",
                               "--disable-iri", "--disable-pcre", "--disable-pcre2",
                               "--without-zlib", "--without-libuuid", "--without-metalink"]),
    "rsync": Package(configure=["./configure", "--disable-openssl", "--disable-xxhash",
                                "--disable-zstd", "--disable-lz4", "--disable-md2man"],
                     build=["make", f"-j{JOBS}", "rsync"]),
    "gawk": Package(configure=["./configure", "--disable-nls", "--disable-extensions"]),
    "tmux": Package(configure=["./configure"]),
    "dash": Package(configure=["sh", "-c", "test -x configure || ./autogen.sh; ./configure"]),
    "sqlite3": Package(configure=["./configure", "--disable-tcl", "--disable-readline"],
                       build=["make", "sqlite3.lo", "shell.c", "sqlite3"], only=r"(sqlite3|shell)\.c$"),
    "leveldb": Package("C++", configure=["cmake", "-S", ".", "-B", "build",
                                         "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
                                         "-DLEVELDB_BUILD_TESTS=OFF",
                                         "-DLEVELDB_BUILD_BENCHMARKS=OFF"], build=[]),
    "jsoncpp": Package("C++", source="libjsoncpp",
                       configure=["cmake", "-S", ".", "-B", "build",
                                  "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
                                  "-DJSONCPP_WITH_TESTS=OFF"], build=[]),
    "tinyxml2": Package("C++", configure=[*CMAKE], build=[], only=r"/tinyxml2\.cpp$"),
    "pugixml": Package("C++", configure=[*CMAKE], build=[]),
    "yaml-cpp": Package("C++", configure=[*CMAKE, "-DYAML_CPP_BUILD_TESTS=OFF"], build=[]),
    "snappy": Package("C++", configure=[*CMAKE, "-DSNAPPY_BUILD_TESTS=OFF",
                                        "-DSNAPPY_BUILD_BENCHMARKS=OFF"], build=[]),
}

# The sample of findings is taken from these, as draw.py put them in order; every second
# one is looked at for what could be mended, the others are not.
SAMPLE = {
    "clearsilver": Package(half="develop", configure=["./configure", "--disable-python", "--disable-ruby",
                                                      "--disable-csharp", "--disable-apache",
                                                      "--disable-perl", "--disable-java"],
                           build=["make", *sources.KEEP]),
    "halibut": Package(half="report", configure=[*CMAKE], build=[]),
    "tstools": Package(half="develop", configure=["true"], build=["make"]),
    "sdparm": Package(half="report"),
    "net-tools": Package(half="develop", configure=["sh", "-c", "cp debian/config.make debian/config.h ."],
                         build=["make", f"-j{JOBS}", "-k"]),
    "pcre3": Package(half="report", configure=["./configure", "--enable-pcre16", "--enable-utf",
                                               "--enable-jit"]),
    "sg3-utils": Package(half="develop"),
    "cpio": Package(half="report"),
    "cflow": Package(half="report"),
    "tetgen": Package("C++", half="develop", configure=[*CMAKE], build=[]),
    "clustalw": Package("C++", half="develop", configure=["./configure"]),
    "nano": Package(half="report"),
    "fyba": Package("C++", half="report", configure=["sh", "-c", "autoreconf -fi && ./configure"]),
    "exempi": Package("C++", half="report", configure=["./configure"]),
    "googletest": Package("C++", half="report", configure=[*CMAKE], build=[]),
}
PACKAGES |= SAMPLE


@dataclass
class Unit:
    directory: str
    file: Path
    flags: list[str]  # without the compiler, the source, the output and what makes dependencies


@dataclass
class Cost:
    cpu: float = 0.0
    peak_kb: int = 0
    failed: int = 0
    findings: int = 0

    def add(self, done: measure.Measured) -> None:
        self.cpu += done.cpu
        self.peak_kb = max(self.peak_kb, done.peak_kb)
        self.failed += done.status != 0


def flags_of(words: list[str], directory: str, file: Path) -> list[str]:
    """Without the source, by whatever name it goes."""
    out: list[str] = []
    takes_next = False
    for word in words[1:]:
        if takes_next:
            takes_next = False
        elif word in ("-o", "-MF", "-MT", "-MQ"):
            takes_next = True
        elif word in ("-c", "-MD", "-MMD", "-MP", "-MG") or word.startswith("-o"):
            pass
        elif SOURCE.search(word) and (Path(directory) / word).resolve() == file.resolve():
            pass
        elif re.match(r"-O\w*$|-g\w*$|-W", word):
            pass  # each tool gets its own
        else:
            out.append(word)
    return out


def units_of(database: Path, only: str) -> list[Unit]:
    """One unit for each source: libtool compiles twice, for two kinds of library."""
    units: dict[Path, Unit] = {}
    for entry in json.loads(database.read_text()):
        words = entry.get("arguments") or shlex.split(entry["command"])
        path = Path(entry["directory"]) / entry["file"]
        if not SOURCE.search(entry["file"]) or not re.search(only, str(path)) or not path.exists():
            continue
        if re.search(r"conftest|CMakeFiles|CompilerId", str(path)):
            continue
        units.setdefault(path.resolve(),
                         Unit(entry["directory"], path, flags_of(words, entry["directory"], path)))
    return [units[path] for path in sorted(units)]


def prepared(name: str, package: Package, folder: Path, conf: list[Path]) -> Path:
    """The folder with the sources, configured, and a compile_commands.json of its own."""
    target = folder / f"static-{name}"
    done = target / "plumb-units" / "compile_commands.json"
    if done.exists():
        return target
    found = target / ("bear.json" if package.build else "build/compile_commands.json")
    if not found.exists():
        source = sources.source_of(package.source or name, folder, conf)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target, symlinks=True)
        with (folder / f"static-{name}.log").open("w") as log:
            # Only the commands are wanted: what they make may be slow.
            if sources.step(package.configure, target, {"CFLAGS": "-O0"}, log):
                raise RuntimeError(f"configure failed, see {log.name}")
            if package.build:
                # A build that stops half way has compiled something, too.
                sources.step(["bear", "--output", str(found), "--", *package.build], target, {}, log)
    if not found.exists():
        raise RuntimeError("no compile commands")
    units = units_of(found, package.only)
    if not units:
        raise RuntimeError("nothing was compiled")
    done.parent.mkdir()
    done.write_text(json.dumps([
        {"directory": u.directory, "file": str(u.file),
         "arguments": ["c++" if package.language == "C++" else "cc", *u.flags, "-c", str(u.file)]}
        for u in units], indent=1))
    return target


def each_unit(units: list[Unit], command) -> Cost:
    cost = Cost()

    def one(unit: Unit) -> tuple[measure.Measured, set]:
        words, pattern = command(unit)
        done = measure.run(["timeout", str(LONGEST), "env", "-C", unit.directory, *words])
        text = (done.stdout + done.stderr).decode(errors="replace")
        return done, {(m[1], m[2]) for m in pattern.finditer(text)} if pattern else set()

    with ThreadPoolExecutor(JOBS) as pool:
        for done, found in pool.map(one, units):
            cost.add(done)
            cost.findings += len(found)
    return cost


def clang(unit: Unit):
    return ["clang-19", *unit.flags, "-w", "-O0", "-g", "-c", str(unit.file), "-o",
            str(Path(tempfile.gettempdir()) / "plumb-bench.o")], None


def csa(unit: Unit):
    tool = Csa()
    return tool.command(unit.file, unit.flags), tool.pattern


def gcc(unit: Unit):
    tool = Gcc()
    return tool.command(unit.file, unit.flags), tool.pattern


def check(plumb: Path, target: Path, cache: Path, report: Path) -> tuple[measure.Measured, dict]:
    done = measure.run([str(plumb), "check", f"--jobs={JOBS}", "-p", str(target / "plumb-units"),
                        f"--cache={cache}", "--format=json", f"--output={report}"])
    if done.status not in (0, 1):
        raise RuntimeError(f"plumb check ended with {done.status}: {done.stderr[-300:]!r}")
    return done, json.loads(report.read_text())


def ids_of(report: dict) -> list[str]:
    return [leak["id"] for leak in report["leaks"]]


def touched(units: list[Unit]) -> Path:
    """The file of middling size."""
    middle = statistics.median_low([unit.file.stat().st_size for unit in units])
    return next(unit.file for unit in units if unit.file.stat().st_size == middle)


def shown(report: dict) -> list[dict]:
    """Without what is hidden by default: the findings that could not be decided."""
    return [leak for leak in report["leaks"] if "suppressed" not in leak]


@dataclass
class Labels:
    """What people found by reading: verdicts by file and line of the loss."""

    known: list[dict]

    @staticmethod
    def of(name: str) -> Labels:
        path = LABELS / f"{name}.json"
        return Labels(json.loads(path.read_text())["findings"] if path.exists() else [])

    def verdict(self, leak: dict) -> str:
        frame = ((leak.get("loss") or {}).get("stack") or [{}])[0]
        allocation = leak["allocation"]["stack"][-1]
        for each in self.known:
            for place in (frame, allocation):
                # Sources include each other by names of their own: ./regcomp.c.
                if (Path(place.get("file", "")).name == Path(each["file"]).name
                        and place.get("line") == each["line"]
                        and each["function"] in place.get("function", "")):
                    return "true" if each["verdict"] == "true" else "false"  # doubtful: false
        return "unlabelled"

    def count(self, report: dict) -> dict[str, int]:
        out = {"true": 0, "false": 0, "unlabelled": 0}
        for leak in shown(report):
            out[self.verdict(leak)] += 1
        return out


def lines_of(units: list[Unit]) -> int:
    return sum(len(unit.file.read_bytes().splitlines()) for unit in units)


def ratio(cost: float, base: float) -> str:
    return f"{cost:.1f} s = {cost / max(base, 0.01):.2f}x"


HEAD = ("| package | kLOC | units | clang -O0 -g -c | plumb check, cold | warm | one file touched "
        "| same findings | peak memory, plumb / clang | findings: true, false, unlabelled "
        "| CSA: CPU, leaks | gcc -fanalyzer: CPU, leaks |")


def measure_package(name: str, plumb: Path, folder: Path, conf: list[Path], peers: bool) -> str:
    package = PACKAGES[name]
    target = prepared(name, package, folder, conf)
    units = units_of(target / "plumb-units" / "compile_commands.json", "")
    base = each_unit(units, clang)
    with tempfile.TemporaryDirectory() as scratch:
        cache, report = Path(scratch) / "cache", Path(scratch) / "report.json"
        cold, first = check(plumb, target, cache, report)
        warm, second = check(plumb, target, cache, report)
        changed = touched(units)
        before = changed.read_bytes()
        try:
            changed.write_bytes(before + b"\nint plumb_touched(int n);\n"
                                b"int plumb_touched(int n) { return n + 1; }\n")
            again, third = check(plumb, target, cache, report)
        finally:
            changed.write_bytes(before)
    (folder / f"static-{name}.json").write_text(json.dumps(first, indent=1))
    labels = Labels.of(name).count(first)
    same = "yes" if ids_of(first) == ids_of(second) == ids_of(third) else "**no**"
    skipped = first["totals"].get("skippedUnits", 0)
    cells = [
        name + (f" ({package.language})" if package.language != "C" else ""),
        f"{lines_of(units) / 1000:.1f}",
        f"{len(units)}" + (f" ({skipped} skipped)" if skipped else ""),
        f"{base.cpu:.1f} s" + (f" ({base.failed} failed)" if base.failed else ""),
        ratio(cold.cpu, base.cpu),
        f"{100 * warm.cpu / cold.cpu:.0f}% of cold",
        f"{100 * again.cpu / cold.cpu:.0f}% of cold",
        same,
        f"{cold.peak_kb / 1024:.0f} / {base.peak_kb / 1024:.0f} MB",
        f"{len(shown(first))}: {labels['true']}, {labels['false']}, {labels['unlabelled']}",
    ]
    for tool, command in (("CSA", csa), ("GCC", gcc)):
        if not peers:
            cells.append("not run")
        elif tool == "GCC" and package.language != "C":
            cells.append("not for C++")
        else:
            cost = each_unit(units, command)
            failed = f", {cost.failed} units failed" if cost.failed else ""
            cells.append(f"{ratio(cost.cpu, base.cpu)}, {cost.findings}{failed}")
    return "| " + " | ".join(cells) + " |"


def run(plumb: Path, work: Path | None, names: list[str], peers: bool, prepare: bool) -> None:
    folder = work or Path(tempfile.mkdtemp(prefix="plumb-static-"))
    folder.mkdir(parents=True, exist_ok=True)
    conf: list[Path] = []
    print("\n### packages\n")
    print(HEAD)
    print("|" + "---|" * HEAD.count(" |"))
    for name in names or [name for name in PACKAGES if name not in SAMPLE]:
        try:
            if prepare:
                units = prepared(name, PACKAGES[name], folder.resolve(), conf) / "plumb-units"
                print(f"{name}: {units}", flush=True)
            else:
                print(measure_package(name, plumb, folder.resolve(), conf, peers), flush=True)
        except (RuntimeError, OSError, subprocess.CalledProcessError) as problem:
            print(f"| {name} | absent: {' '.join(str(problem).split())} |", flush=True)
    if not work:
        shutil.rmtree(folder, ignore_errors=True)
