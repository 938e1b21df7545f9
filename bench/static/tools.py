"""The static analysers that are compared: how each is run, and its leak reports.

Every tool gets the same units with the same flags and answers with findings:
the lines that a report names (allocation, loss), by the base name of the file.
A tool that is not installed is marked absent, never silently left out. Tools
that look at one file at a time are given one file at a time; that is how they
are used. What a suite says of functions (`models`) is passed to those that can be told.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import measure  # noqa: E402

Line = tuple[str, int]  # base name of the file, line


@dataclass
class Finding:
    lines: set[Line]
    allocation: set[Line] = field(default_factory=set)  # where the tool says so
    when: str = ""


@dataclass
class Answer:
    findings: list[Finding]
    cpu: float
    broken: str = ""  # why there is no answer


def line_of(path: str, line: int) -> Line:
    return Path(path).name, line


class Tool:
    name: str

    def absent(self) -> str | None:
        raise NotImplementedError

    def check(self, files: list[Path], flags: list[str], models: list[str]) -> Answer:
        raise NotImplementedError


class Plumb(Tool):
    def __init__(self, plumb: Path, options: tuple[str, ...] = (), name: str = "plumb check",
                 defect: str = "leak") -> None:
        self.plumb, self.options, self.name, self.defect = plumb, options, name, defect

    def absent(self) -> str | None:
        return None if self.plumb.exists() else f"{self.plumb} is not built"

    def check(self, files: list[Path], flags: list[str], models: list[str]) -> Answer:
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.json"
            done = measure.run([str(self.plumb), "check", "--jobs=1", "--format=json",
                                f"--output={report}", f"--cflags={' '.join(flags)}", *self.options,
                                *(f"--model={line}" for line in models), *map(str, files)])
            if done.status not in (0, 1) or not report.exists():
                return Answer([], done.cpu, done.stderr.decode(errors="replace")[-300:])
            read = json.loads(report.read_text())
        broken = "; ".join(n["text"] for n in read["notes"] if n["code"] == "skipped-unit")
        return Answer([self.finding(leak) for leak in read["leaks"]
                       if "suppressed" not in leak and self.is_asked(leak["kind"])], done.cpu, broken)

    def is_asked(self, kind: str) -> bool:
        return kind == self.defect or (self.defect == "leak" and kind in ("lost", "forgotten"))

    @staticmethod
    def finding(leak: dict) -> Finding:
        allocation = {line_of(f["file"], f["line"]) for f in leak["allocation"].get("stack", [])
                      if "line" in f}
        allocation |= {line_of(step["location"]["file"], step["location"]["line"])
                       for step in leak.get("path", []) if step["event"] == "holds"}
        loss = {line_of(f["file"], f["line"])
                for f in (leak.get("loss") or {}).get("stack", []) if "line" in f}
        return Finding(allocation | loss, allocation, leak.get("when", ""))


class PerFile(Tool):
    """A tool that reads one file and prints `file:line:...: text` for each report."""

    program: str
    pattern: re.Pattern[str]

    def absent(self) -> str | None:
        return None if shutil.which(self.program) else f"{self.program} is not installed"

    def command(self, file: Path, flags: list[str]) -> list[str]:
        raise NotImplementedError

    def check(self, files: list[Path], flags: list[str], models: list[str]) -> Answer:
        answer = Answer([], 0.0)
        for file in files:
            done = measure.run(self.command(file, flags))
            answer.cpu += done.cpu
            text = (done.stdout + done.stderr).decode(errors="replace")
            for match in self.pattern.finditer(text):
                answer.findings.append(Finding({line_of(match[1], int(match[2]))}))
            if done.status != 0 and not answer.findings:
                answer.broken = text[-300:]
        return answer


class Csa(PerFile):
    name = "clang --analyze"
    program = "clang-19"
    words = {
        "leak": r"leak[^\n]*\[(?:unix\.Malloc|cplusplus\.New)",
        "double-free": r"(?:free|release|delete)[^\n]*\[(?:unix\.Malloc|cplusplus\.NewDelete)\]",
        "mismatched-free": r"\[unix\.MismatchedDeallocator\]",
    }

    def __init__(self, defect: str = "leak") -> None:
        self.pattern = re.compile(
            rf"^([^:\n]+):(\d+):\d+: warning: [^\n]*{self.words[defect]}", re.M)

    def command(self, file: Path, flags: list[str]) -> list[str]:
        return ["clang-19", "--analyze", "-Xclang", "-analyzer-output=text", "-w", *flags, str(file),
                "-o", "/dev/null"]


class Gcc(PerFile):
    name = "gcc-12 -fanalyzer"
    program = "gcc-12"
    words = {"leak": "malloc-leak", "double-free": "double-free",
             "mismatched-free": "mismatching-deallocation"}

    def __init__(self, defect: str = "leak") -> None:
        self.pattern = re.compile(
            rf"^([^:\n]+):(\d+):\d+: warning: [^\n]*\[-Wanalyzer-{self.words[defect]}\]", re.M)

    def command(self, file: Path, flags: list[str]) -> list[str]:
        kept = [f for f in flags if f != "-w"]  # it would silence the analyser, too
        return ["gcc-12", "-fanalyzer", "-fdiagnostics-path-format=none",
                "-fdiagnostics-color=never", *kept, "-O0", "-c", str(file), "-o", "/dev/null"]


class Cppcheck(PerFile):
    name = "cppcheck"
    program = "cppcheck"
    words = {"leak": r"memleak\w*|memleakOnRealloc|leak\w*|unsafeClassCanLeak",
             "double-free": "doubleFree", "mismatched-free": "mismatchAllocDealloc"}

    def __init__(self, defect: str = "leak") -> None:
        self.pattern = re.compile(rf"^([^:\n]+):(\d+): (?:{self.words[defect]})$", re.M)

    def command(self, file: Path, flags: list[str]) -> list[str]:
        kept = [f for f in flags if f.startswith(("-D", "-I", "-U"))]
        return ["cppcheck", "-q", "--enable=warning", "--template={file}:{line}: {id}", *kept, str(file)]


class Saber(PerFile):
    """SVF's leak checker, when its path is given; reads bitcode."""

    name = "saber"
    pattern = re.compile(r'"ln": (\d+)[^\n]*"(?:fl|file)": "([^"]+)"')

    def __init__(self, program: str | None) -> None:
        self.program = program or "saber"

    def check(self, files: list[Path], flags: list[str], models: list[str]) -> Answer:
        answer = Answer([], 0.0)
        with tempfile.TemporaryDirectory() as folder:
            parts = []
            for i, file in enumerate(files):
                parts.append(f"{folder}/{i}.bc")
                answer.cpu += measure.run(["clang-19", "-g", "-O0", "-w", "-emit-llvm", "-c", *flags,
                                           str(file), "-o", parts[-1]]).cpu
            whole = f"{folder}/whole.bc"
            answer.cpu += measure.run(["llvm-link-19", *parts, "-o", whole]).cpu
            done = measure.run([self.program, "-leak", whole])
        answer.cpu += done.cpu
        text = (done.stdout + done.stderr).decode(errors="replace")
        for report in re.split(r"(?=NeverFree|PartialLeak)", text)[1:]:
            if match := self.pattern.search(report):
                answer.findings.append(Finding({line_of(match[2], int(match[1]))}))
        return answer


def make_tools(plumb: Path, saber: str | None, defect: str = "leak") -> list[Tool]:
    peers: list[Tool] = [Csa(defect), Gcc(defect), Cppcheck(defect)]
    if defect != "leak":
        option = f"--also={defect}"
        return [Plumb(plumb, (option,), f"plumb check {option}", defect), *peers]
    return [Plumb(plumb), Plumb(plumb, ("--globals",), "plumb check --globals"), *peers, Saber(saber)]
