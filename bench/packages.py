#!/usr/bin/env python3
"""Builds Debian packages with `plumb cc`, as a user would, and runs their own tests.

usage: packages.py PLUMB [--work=DIR] [--only=NAME,...] [--record=FILE] [--table]

--only takes some of the packages; with --record the rows are kept in a file, and
the table is that of all parts so far. --table only prints it.

Each package's source is fetched by name (apt-get source, with the machine's own
archives), configured and built twice, by clang 19 and by `plumb cc` in `full`,
and its test suite is run on both. The results must be the same, test by test.
The reports go into files: the suites look at standard error. --work keeps the
folder, and uses the sources that are in it.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from rows import Rows

JOBS = os.environ.get("PLUMB_JOBS", "2")
# Debian's patches are younger than what was generated; nothing is generated again.
KEEP = ["ACLOCAL=:", "AUTOCONF=:", "AUTOHEADER=:", "AUTOMAKE=:", "MAKEINFO=true"]
RESULT = re.compile(r"^(PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): (\S.*)$", re.MULTILINE)


@dataclass
class Package:
    language: str = "C"
    configure: list[str] = field(default_factory=lambda: ["./configure", "--disable-nls"])
    build: list[str] = field(default_factory=lambda: ["make", f"-j{JOBS}"])
    test: list[str] = field(default_factory=lambda: ["make", "check"])
    # What the suite prints that is a result; without a group its lines are compared.
    result: re.Pattern = RESULT
    one_word: bool = False  # the build system wants the compiler as one


OWN_TESTS = ["make", "-C", "tests", "check"]  # without those of gnulib, which are others'
CMAKE = ["cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=None", "-DBUILD_TESTING=ON"]
BUILD = ["cmake", "--build", "build", f"-j{JOBS}"]
CTEST = ["ctest", "--test-dir", "build", "-V"]
TESTED = re.compile(r"Test +#\d+: (\S+) .*?(Passed|Failed|\*\*\*\S+)")

PACKAGES = {
    "bzip2": Package(configure=["true"], build=["make", "bzip2", "bzip2recover"],
                     test=["make", "check"], result=re.compile(r"^cmp .*$", re.MULTILINE)),
    "tinyxml2": Package("C++", configure=["true"], build=["make", "xmltest"], test=["./xmltest"],
                        result=re.compile(r"^(?:Pass|Fail) \d+.*$|^\[(?:pass|fail)\].*$",
                                          re.MULTILINE)),
    "zlib": Package(configure=["./configure"], test=["make", "test"],
                    result=re.compile(r"^\s*\*\*\*.*$", re.MULTILINE)),
    "jansson": Package(configure=CMAKE, build=BUILD, test=CTEST, result=TESTED),
    "libyaml": Package(configure=CMAKE, build=BUILD, test=CTEST, result=TESTED),
    "gzip": Package(test=OWN_TESTS),
    "patch": Package(test=OWN_TESTS),
    "diffutils": Package(test=OWN_TESTS),
    "grep": Package(test=OWN_TESTS),
    "sed": Package(test=["make", "check", "SUBDIRS=."]),
    "findutils": Package(test=["make", "-C", "find", "check"]),
    "tcc": Package(configure=["./configure"], test=["make", "-C", "tests", "hello-exe", "test3"],
                   result=re.compile(r"^(?:-+ .*|Hello.*|Auto Test.*)$", re.MULTILINE)),
    "pugixml": Package("C++", configure=["true"], build=["make", "config=release"], one_word=True,
                       test=["make", "config=release", "test"],
                       result=re.compile(r"^.*(?:Success|FAILURE|FAILED).*$", re.MULTILINE)),
    "libjsoncpp": Package("C++", configure=CMAKE, build=BUILD, test=CTEST,
                          result=re.compile(r"^\d+: (Testing .*|.*tests? passed.*)$", re.MULTILINE)),
    "double-conversion": Package("C++", configure=CMAKE, build=BUILD, test=CTEST, result=TESTED),
    "re2": Package("C++", configure=["true"], build=["make", f"-j{JOBS}", "obj/libre2.a"],
                   test=["make", f"-j{JOBS}", "static-test"],
                   result=re.compile(r"^(?:obj/test/\S+.*|.*(?:PASS|FAIL).*)$", re.MULTILINE)),
    "libxml2": Package(configure=["./configure", "--without-python"]),
}


def archives(folder: Path) -> Path:
    """apt's configuration for sources: what the machine has for binaries."""
    parts = folder / "apt" / "parts"
    parts.mkdir(parents=True, exist_ok=True)
    (folder / "apt" / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    (folder / "apt" / "cache" / "archives" / "partial").mkdir(parents=True, exist_ok=True)
    for source in Path("/etc/apt/sources.list.d").glob("*.sources"):
        text = re.sub(r"^Types:.*$", "Types: deb-src", source.read_text(), flags=re.MULTILINE)
        (parts / source.name).write_text(text)
    for source in [Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*.list")]:
        if source.exists():
            text = re.sub(r"^deb ", "deb-src ", source.read_text(), flags=re.MULTILINE)
            (parts / source.name).write_text(text)
    conf = folder / "apt" / "apt.conf"
    conf.write_text(
        f'Dir::Etc::sourcelist "/dev/null";\nDir::Etc::sourceparts "{parts}";\n'
        f'Dir::State::lists "{folder}/apt/lists";\nDir::Cache "{folder}/apt/cache";\n')
    subprocess.run(["apt-get", "-c", str(conf), "-q", "update"], check=True,
                   stdout=subprocess.DEVNULL)
    return conf


def source_of(name: str, folder: Path, conf: list[Path]) -> Path:
    found = [p for p in folder.glob(f"{name}*") if p.is_dir() and (p / "debian").is_dir()]
    if not found:
        if not conf:
            conf.append(archives(folder))
        # An archive may name a version whose files are gone: then an older one.
        known = subprocess.run(["apt-cache", "-c", str(conf[0]), "showsrc", name], text=True,
                               capture_output=True).stdout
        versions = [f"={v}" for v in re.findall(r"^Version: (\S+)$", known, re.MULTILINE)]
        for version in ["", *versions]:
            done = subprocess.run(["apt-get", "-c", str(conf[0]), "-q", "source", name + version],
                                  cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True)
            found = [p for p in folder.glob(f"{name}*") if p.is_dir() and (p / "debian").is_dir()]
            if found:
                break
        if not found:
            raise RuntimeError(f"no source: {done.stdout[-300:]}")
    return found[0]


def lines_of(folder: Path) -> int:
    return sum(len(p.read_bytes().splitlines()) for e in ("c", "h", "cc", "cpp")
               for p in folder.rglob(f"*.{e}") if p.is_file())


def step(command: list[str], folder: Path, env: dict[str, str], log) -> int:
    log.write(f"\n$ {' '.join(command)}\n")
    log.flush()
    return subprocess.run(command, cwd=folder, env={**os.environ, **env}, stdout=log,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL).returncode


def build_and_test(package: Package, source: Path, target: Path, compilers: dict[str, str],
                   env: dict[str, str]) -> tuple[str, list]:
    """What went wrong, or nothing, and the results of the suite."""
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(source, target, symlinks=True)
    flags = {"CFLAGS": "-g -O2", "CXXFLAGS": "-g -O2"}
    with open(target.with_suffix(".log"), "w") as log:
        if step(package.configure, target, {**compilers, **flags}, log) != 0:
            return "does not configure", []
        assignments = [f"{k}={v}" for k, v in compilers.items()] + KEEP
        if package.configure == ["true"]:
            assignments += [f"{k}={v}" for k, v in flags.items()]
        if package.build[0] != "make":
            assignments = []
        if step(package.build + assignments, target, {}, log) != 0:
            return "does not build", []
    suite = target.with_suffix(".suite")
    with open(suite, "w") as log:
        command = package.test + (assignments if package.test[0] == "make" else [])
        status = step(command, target, env, log)
    text = suite.read_text(errors="replace")
    return "", [f"status {status}", *sorted(map(str, package.result.findall(text)))]


def reported(folder: Path) -> tuple[int, int]:
    """Reports with something lost, and places of loss that are known in them."""
    leaks, placed = 0, 0
    for path in folder.glob("*.json"):
        try:
            report = json.loads(path.read_text())
        except (OSError, ValueError):
            continue
        for leak in report["leaks"]:
            if leak["kind"] == "lost":
                leaks += 1
                placed += bool(leak.get("loss", {}).get("stack"))
    return leaks, placed


def measured(name: str, plumb: str, folder: Path, conf: list[Path]) -> dict:
    package = PACKAGES[name]
    try:
        source = source_of(name, folder, conf)
    except (RuntimeError, subprocess.CalledProcessError) as problem:
        return {"language": package.language, "verdict": " ".join(str(problem).split())}
    reports = folder / f"reports-{name}"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir()
    builds = {
        "native": ({"CC": "clang-19", "CXX": "clang++-19"}, {}),
        "full": ({"CC": f"{plumb} cc", "CXX": f"{plumb} c++"},
                 {"PLUMB_OPTIONS": f"output={reports}/%p.json"}),
    }
    if package.configure is CMAKE or package.one_word:
        builds["full"] = ({"CC": f"{plumb}-cc", "CXX": f"{plumb}-c++"}, builds["full"][1])
    answers = {}
    for kind, (compilers, env) in builds.items():
        target = folder / f"{kind}-{name}"
        answers[kind] = build_and_test(package, source, target, compilers, env)
    wrong, results = answers["full"]
    native_wrong, expected = answers["native"]
    lost, placed = reported(reports)
    verdict = wrong or ("yes" if results == expected else "no")
    if native_wrong:
        verdict = f"native {native_wrong}"
    elif not expected[1:]:
        verdict = "no results"
    for line in sorted(set(results) ^ set(expected))[:8]:
        print(f"  {'full' if line in results else 'native'} only: {line}", file=sys.stderr)
    return {"language": package.language, "lines": lines_of(source), "results": len(results) - 1,
            "verdict": verdict, "lost": lost, "placed": placed}


def print_table(rows: dict[str, dict]) -> None:
    print("\n| package | lines | language | results | same as native | lost | with place |")
    print("|---|---|---|---|---|---|---|")
    for name in (n for n in PACKAGES if n in rows):
        row = rows[name]
        print(f"| {name} | {row.get('lines', 0):,} | {row['language']} | {row.get('results', 0)} "
              f"| {row['verdict']} | {row.get('lost', 0)} | {row.get('placed', 0)} |", flush=True)
    same = sum(row["verdict"] == "yes" for row in rows.values())
    print(f"\n{same} of {len(rows)} packages give the results of the native build.")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("plumb")
    parser.add_argument("--only", default="")
    parser.add_argument("--work")
    parser.add_argument("--record")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    names = [name for name in options.only.split(",") if name] or list(PACKAGES)
    if unknown := [name for name in names if name not in PACKAGES]:
        parser.error(f"no package {unknown[0]}; there are {', '.join(PACKAGES)}")
    record = Rows(options.record)
    if not options.table:
        plumb = str(Path(options.plumb).resolve())
        folder = Path(options.work or tempfile.mkdtemp(prefix="plumb-packages-")).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        conf: list[Path] = []
        for name in names:
            begun = time.monotonic()
            record.put(name, measured(name, plumb, folder, conf))
            print(f"{name}: {record.rows[name]['verdict']}, {time.monotonic() - begun:.0f} s",
                  file=sys.stderr, flush=True)
        if not options.work:
            shutil.rmtree(folder, ignore_errors=True)
    print_table(record.rows)
    return 0 if all(row["verdict"] == "yes" for row in record.rows.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
