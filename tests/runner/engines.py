"""The engines as the tests see them: how to run one, and what it claims.

An engine is judged on the aspects it claims, no more and no less. When an
engine learns something new, it claims it here and the whole corpus holds it to
that. Peers are judged the same way, which shows their figures side by side.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import lsan
import memcheck
import plumb_json
from build import Config, compile_program, standard
from observed import EngineError, Observation

RUN_TIMEOUT = 60


@dataclass(frozen=True)
class Program:
    """A program to examine: its source, and how to build and start it."""

    source: Path
    flags: tuple[str, ...]
    args: tuple[str, ...]
    config: Config
    folder: Path  # for binaries and reports

    def build(self, extra: tuple[str, ...] = (), plumb: Path | None = None) -> Path:
        return compile_program(self.source, self.config, self.flags, self.folder, extra, plumb)

    def scratch(self, name: str) -> Path:
        """A path for a file of this run; what an earlier run left there is gone."""
        path = self.folder / f"{self.config.compiler}{self.config.opt}-{self.source.stem}.{name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        for old in path.parent.glob(path.name + "*"):
            old.unlink()
        return path


def start(command: list[str], env: dict[str, str] | None = None) -> tuple[int, int, bytes, bytes]:
    """Runs to the end: pid, status as subprocess has it, both outputs."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env={**os.environ, **(env or {})},
                               start_new_session=True)
    try:
        out, err = process.communicate(timeout=RUN_TIMEOUT)
    except subprocess.TimeoutExpired as error:
        os.killpg(process.pid, signal.SIGKILL)  # what it started has its outputs, too
        process.communicate()
        raise EngineError(f"{' '.join(command)}: no end after {RUN_TIMEOUT} s") from error
    return process.pid, process.returncode, out, err


def run_native(program: Program) -> Observation:
    """The program by itself: what it prints and how it ends."""
    _, status, out, _ = start([str(program.build()), *program.args])
    return Observation(status, out, [])


class Engine:
    name: str
    claims: frozenset[str]
    # Judged and printed, too, but no failure: what a peer does not promise.
    measures: frozenset[str] = frozenset()
    counts_direct = True  # tells direct and indirect blocks apart as the contract does
    is_peer = False
    # Reads the source and runs nothing: no status, and a finding is a site, not
    # a number of blocks.
    is_static = False

    def unavailable(self) -> str | None:
        """Why the engine cannot run here, or None."""
        raise NotImplementedError

    def examine(self, program: Program) -> Observation:
        raise NotImplementedError


class Run(Engine):
    """`plumb run`: the scan says what was lost, the second run where."""

    name = "run"
    claims = frozenset({"status", "found", "false-alarm", "size", "alloc", "forgotten", "place",
                        "function", "holder", "cause", "use"})

    def __init__(self, plumb: Path | None) -> None:
        self.plumb = plumb

    def unavailable(self) -> str | None:
        if self.plumb is None:
            return "no --plumb given"
        return None if os.access(self.plumb, os.X_OK) else f"{self.plumb} cannot be run"

    def examine(self, program: Program) -> Observation:
        binary = program.build()
        report = program.scratch("run.json")
        _, status, out, err = start([str(self.plumb), "run", "--format=json",
                                     f"--output={report}", "--", str(binary), *program.args])
        if not report.exists():
            raise EngineError(f"no report (status {status}): {err.decode(errors='replace')[-400:]}")
        return Observation(status, out, plumb_json.read_report(report))


class Watch(Engine):
    """`plumb watch`: cases are far too short for staleness, but every one of
    them must run as it does alone, with most of its blocks sampled, and of
    these nothing may be called lost that is not. How many blocks a sample
    stands for is an estimate."""

    name = "watch"
    claims = frozenset({"status", "false-alarm"})
    measures = frozenset({"found", "alloc"})
    counts_direct = False

    def __init__(self, plumb: Path | None) -> None:
        self.plumb = plumb

    def unavailable(self) -> str | None:
        return Run(self.plumb).unavailable()

    def examine(self, program: Program) -> Observation:
        binary = program.build()
        report = program.scratch("watch.json")
        _, status, out, err = start([str(self.plumb), "watch", "--sample=1", "--epoch=1ms",
                                     "--format=json", f"--output={report}", "--", str(binary),
                                     *program.args])
        if not report.exists():
            raise EngineError(f"no report (status {status}): {err.decode(errors='replace')[-400:]}")
        return Observation(status, out, plumb_json.read_report(report))


class Cc(Run):
    """`plumb cc`: the program is built with the tracker and reports by itself."""

    name = "cc"
    claims = frozenset({"status", "found", "false-alarm", "size", "alloc", "forgotten", "place",
                        "function", "holder", "cause"})
    # What the function that lost it did last with the variable; not what others did.
    measures = frozenset({"use"})

    def examine(self, program: Program) -> Observation:
        binary = program.build(plumb=self.plumb)
        report = program.scratch("cc.json")
        _, status, out, err = start([str(binary), *program.args],
                                    {"PLUMB_OPTIONS": f"format=json:output={report}"})
        if not report.exists():
            raise EngineError(f"no report (status {status}): {err.decode(errors='replace')[-400:]}")
        return Observation(status, out, plumb_json.read_report(report))


class Check(Engine):
    """`plumb check`: the source alone. It claims no count of blocks."""

    name = "check"
    is_static = True
    claims = frozenset({"found", "false-alarm", "alloc", "place", "function", "cause"})
    measures = frozenset({"holder"})

    def __init__(self, plumb: Path | None) -> None:
        self.plumb = plumb

    def unavailable(self) -> str | None:
        return Run(self.plumb).unavailable()

    def examine(self, program: Program) -> Observation:
        report = program.scratch("check.json")
        flags = [standard(program.source), *program.flags]
        _, status, out, err = start([str(self.plumb), "check", "--jobs=1", "--format=json",
                                     f"--output={report}", f"--cflags={' '.join(flags)}",
                                     str(program.source)])
        if status not in (0, 1) or not report.exists():
            raise EngineError(f"no report (status {status}): {err.decode(errors='replace')[-400:]}")
        return Observation(None, out, plumb_json.read_report(report))


class Memcheck(Engine):
    name = "memcheck"
    is_peer = True
    claims = frozenset({"status", "found", "false-alarm", "size", "alloc", "forgotten"})

    def unavailable(self) -> str | None:
        return None if shutil.which("valgrind") else "valgrind is not installed"

    def examine(self, program: Program) -> Observation:
        # Debian's Valgrind cannot read all of clang's DWARF 5.
        binary = program.build(("-gdwarf-4",))
        report = program.scratch("memcheck")
        pid, status, out, err = start([
            "valgrind", "--tool=memcheck", "-q", "--leak-check=full", "--show-leak-kinds=all",
            "--num-callers=40", "--xml=yes", f"--xml-file={report}.%p", "--", str(binary),
            *program.args])
        path = Path(f"{report}.{pid}")
        if not path.exists():
            raise EngineError(f"no report: {err.decode(errors='replace')[-400:]}")
        leaks, errors = memcheck.read_xml(path)
        return Observation(status, out, leaks, errors)


class Lsan(Engine):
    """LeakSanitizer, compiled in: a one-sided oracle.

    What it reports is lost. What it does not report may be lost all the same:
    its scan runs on top of the program's dead frames and takes the words that
    they left for references. It lists lost blocks only.
    """

    name = "lsan"
    is_peer = True
    counts_direct = False
    claims = frozenset({"status", "false-alarm", "alloc"})
    measures = frozenset({"found", "size"})

    def unavailable(self) -> str | None:
        return None

    def environment(self, report: Path) -> dict[str, str]:
        options = ["exitcode=0", f"log_path={report}", "max_leaks=0", "malloc_context_size=40",
                   "fast_unwind_on_malloc=0", "allocator_may_return_null=1"]
        for name in ("llvm-symbolizer-19", "llvm-symbolizer"):
            if path := shutil.which(name):
                options.append(f"external_symbolizer_path={os.path.realpath(path)}")
                break
        return {"LSAN_OPTIONS": ":".join(options)}

    def examine(self, program: Program) -> Observation:
        binary = program.build(("-fsanitize=leak",))
        report = program.scratch("lsan")
        pid, status, out, err = start([str(binary), *program.args], self.environment(report))
        path = Path(f"{report}.{pid}")
        text = path.read_text(errors="replace") if path.exists() else ""
        if "LeakSanitizer has encountered a fatal error" in text + err.decode(errors="replace"):
            raise EngineError("LeakSanitizer could not stop the process (is it traced?)")
        return Observation(status, out, lsan.read_text(text))


def make_engines(names: str, plumb: Path | None) -> list[Engine]:
    known: dict[str, Engine] = {e.name: e for e in (Run(plumb), Cc(plumb), Watch(plumb),
                                                    Check(plumb), Memcheck(), Lsan())}
    chosen = []
    for name in names.split(","):
        if name not in known:
            raise EngineError(f"unknown engine '{name}'; there are {', '.join(sorted(known))}")
        chosen.append(known[name])
    return chosen
