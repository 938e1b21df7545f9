"""Reads annotated cases: one source file, its truth in comments.

Header lines, each of its own:

    // CASE: one sentence
    // EXPECT: lost 1 block 16 bytes
    // EXPECT(a): lost 1 block 24 bytes, indirect 2 blocks 48 bytes
    // EXPECT(b): forgotten 1 block 8 bytes        // EXPECT: none
    // CAUSE(a): overwritten
    // FLAGS: -pthread      // ARGS: one two      // STATUS: 3 (or: signal 6)
    // GAP(run): place - why     // GAP(run, -O2, gcc): found(a), size - why

Markers at the end of a line of code, several separated by `;`:

    // ALLOC(a)      // USE(a)      // LOSS(a) ht->name      // LOSS p | q
    // WRAPPER       (this line's caller is where the allocation is)

Every line on which a block of a label is allocated carries ALLOC, those of the
indirect ones too. A reader that finds something it does not understand raises
CaseError: an annotation that is silently ignored would be a test that cannot
fail.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from truth import ASPECTS, CAUSES, Count, Label, LossPlace, Truth

HEADER = re.compile(r"^// ([A-Z]+)(?:\(([^)]*)\))?: *(.*?) *$")
MARKERS = re.compile(r"// ([A-Z]{3,}\b.*?) *$")  # a misspelt one, too
MARKER = re.compile(r"^(ALLOC|LOSS|USE|WRAPPER)(?:\((\w+)\))?(?: +(.+))?$")
EXPECT = re.compile(
    r"^(lost|forgotten) (\d+) blocks? (\d+) bytes?(?:, indirect (\d+) blocks? (\d+) bytes?)?$")
GAP_ASPECT = re.compile(r"^([a-z-]+)(?:\((\w+)\))?$")


class CaseError(Exception):
    """The annotation of a case is wrong."""


@dataclass(frozen=True)
class Gap:
    """A known wrong answer of one engine. It must stay wrong, or be removed."""

    engine: str
    conditions: tuple[str, ...]  # "-O2", "gcc", "clang"; empty: always
    aspect: str
    label: str | None
    why: str
    line: int

    def applies(self, engine: str, compiler: str, opt: str) -> bool:
        if engine != self.engine:
            return False
        opts = [c for c in self.conditions if c.startswith("-")]
        compilers = [c for c in self.conditions if not c.startswith("-")]
        return ((not opts or opt in opts)
                and (not compilers or any(compiler.startswith(c) for c in compilers)))


@dataclass
class Case:
    path: Path
    summary: str
    truth: Truth
    flags: list[str] = field(default_factory=list)
    args: list[str] = field(default_factory=list)
    status: int = 0  # as subprocess has it: negative for a signal
    gaps: list[Gap] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def is_cxx(self) -> bool:
        return self.path.suffix == ".cc"

    def gaps_for(self, engine: str, compiler: str, opt: str) -> list[Gap]:
        return [gap for gap in self.gaps if gap.applies(engine, compiler, opt)]


class _Reader:
    """Collects headers and markers of one file, then checks that they fit."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.case = Case(path, "", Truth([]))
        self.labels: dict[str, Label] = {}
        self.causes: dict[str, str] = {}
        self.saw_none = False
        for number, line in enumerate(text.splitlines(), 1):
            self.line = number
            if header := HEADER.match(line):
                self.header(header[1], header[2], header[3])
            elif markers := MARKERS.search(line):
                self.pending(markers[1])
        self.line = 0
        self.finish()

    def fail(self, what: str) -> CaseError:
        where = f"{self.path}:{self.line}" if self.line else str(self.path)
        return CaseError(f"{where}: {what}")

    def header(self, key: str, argument: str | None, value: str) -> None:
        if argument is not None and key not in ("EXPECT", "CAUSE", "GAP"):
            raise self.fail(f"{key} takes no label")
        match key:
            case "CASE":
                self.case.summary = value
            case "EXPECT":
                self.expect(argument or "", value)
            case "CAUSE":
                if value not in CAUSES:
                    raise self.fail(f"unknown cause '{value}'")
                self.causes[argument or ""] = value
            case "FLAGS":
                self.case.flags += shlex.split(value)
            case "ARGS":
                self.case.args += shlex.split(value)
            case "STATUS":
                self.case.status = self.status(value)
            case "GAP":
                self.gap(argument or "", value)
            case _:
                raise self.fail(f"unknown header '{key}'")

    def status(self, value: str) -> int:
        if m := re.fullmatch(r"(signal )?(\d+)", value):
            return -int(m[2]) if m[1] else int(m[2])
        raise self.fail(f"STATUS '{value}' is neither a number nor 'signal N'")

    def expect(self, name: str, value: str) -> None:
        if value == "none":
            self.saw_none = True
            return
        m = EXPECT.match(value)
        if not m:
            raise self.fail(f"cannot read EXPECT '{value}'")
        if name in self.labels:
            raise self.fail(f"label '{name}' is expected twice")
        indirect = Count(int(m[4]), int(m[5])) if m[4] else Count()
        self.labels[name] = Label(name, m[1], Count(int(m[2]), int(m[3])), indirect)

    def gap(self, argument: str, value: str) -> None:
        engine, *conditions = [part.strip() for part in argument.split(",")]
        aspects, dash, why = value.partition(" - ")
        if not engine or not dash or not why.strip():
            raise self.fail("a gap is written GAP(engine): aspect - why")
        for item in aspects.split(","):
            m = GAP_ASPECT.match(item.strip())
            if not m or m[1] not in ASPECTS:
                raise self.fail(f"unknown aspect '{item.strip()}'")
            self.case.gaps.append(
                Gap(engine, tuple(conditions), m[1], m[2], why.strip(), self.line))

    def pending(self, text: str) -> None:
        for item in text.split(";"):
            m = MARKER.match(item.strip())
            if not m:
                raise self.fail(f"cannot read marker '{item.strip()}'")
            self.marker(m[1], m[2] or "", m[3])

    def marker(self, kind: str, name: str, rest: str | None) -> None:
        if kind == "WRAPPER":
            self.case.truth.wrappers.append(self.line)
            return
        label = self.labels.get(name)
        if label is None:
            raise self.fail(f"no EXPECT for the marker's label '{name}' above it")
        if kind == "LOSS":
            names = tuple(n.strip() for n in rest.split("|")) if rest else ()
            label.losses.append(LossPlace(self.line, names))
        elif rest:
            raise self.fail(f"{kind} takes no text")
        else:
            (label.allocs if kind == "ALLOC" else label.uses).append(self.line)

    def finish(self) -> None:
        if not self.case.summary:
            raise self.fail("no CASE line")
        if self.saw_none == bool(self.labels):
            raise self.fail("either EXPECT: none, or what is expected")
        for name, cause in self.causes.items():
            if name not in self.labels:
                raise self.fail(f"CAUSE for the unknown label '{name}'")
            self.labels[name].cause = cause
        for label in self.labels.values():
            if not label.allocs:
                raise self.fail(f"no ALLOC line for the label '{label.name}'")
            if label.kind == "lost" and not (label.losses and label.cause):
                raise self.fail(f"the lost label '{label.name}' needs LOSS and CAUSE")
            if label.kind == "forgotten" and (label.losses or label.cause):
                raise self.fail(f"the forgotten label '{label.name}' has a loss")
        for gap in self.case.gaps:
            if gap.label is not None and gap.label not in self.labels:
                self.line = gap.line
                raise self.fail(f"gap for the unknown label '{gap.label}'")
        self.case.truth.labels = list(self.labels.values())


def read_case(path: Path) -> Case:
    return _Reader(path, path.read_text(encoding="utf-8")).case


def check_name(case: Case) -> str | None:
    """x_bad leaks, x_ok does not; None when the name tells the truth."""
    if case.name.endswith("_bad"):
        return None if case.truth.leaks else "is named _bad and expects no loss"
    if case.name.endswith("_ok"):
        return "is named _ok and expects a loss" if case.truth.leaks else None
    return "is named neither _bad nor _ok"


def read_corpus(folder: Path) -> list[Case]:
    """All cases of the folder, by name; every _bad has its _ok twin."""
    paths = sorted(p for p in folder.iterdir() if p.suffix in (".c", ".cc"))
    corpus = [read_case(path) for path in paths]
    names = {case.name for case in corpus}
    for case in corpus:
        if wrong := check_name(case):
            raise CaseError(f"{case.path}: {wrong}")
        if case.name.endswith("_bad") and case.name.removesuffix("_bad") + "_ok" not in names:
            raise CaseError(f"{case.path}: has no _ok twin")
    if len(names) != len(corpus):
        raise CaseError(f"{folder}: two cases share a name")
    return corpus
