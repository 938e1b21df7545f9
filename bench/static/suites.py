"""Reads the labels of public suites, which stay outside of the repository.

A suite is a list of items; an item is a set of files that is analysed as one
program, with questions about it. A question has lines; the answer is yes when
a finding names one of them. `leaks` is the suite's own label.

Expected below --suites=DIR: juliet/ (testcases/CWE401_Memory_Leak, and CWE415 and
CWE762 for other defects; testcasesupport), itc/ (01.w_Defects, 02.wo_Defects, include),
svf/ (src/mem_leak, memleak_check.h), infer/ (infer/tests/codetoanalyze). Real projects
are in projects.py and fixes.py. What is not there is left out and named.
"""

from __future__ import annotations

import json
import re
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "runner"))

from source import Function, functions  # noqa: E402


@dataclass
class Question:
    name: str
    leaks: bool
    file: str = ""  # base name; empty: any finding counts
    spans: list[range] = field(default_factory=list)
    by_allocation: bool = False  # the lines are those of the allocation
    # "global": held by a global at the end; "oom": needs a failed allocation; "label": the
    # suite's label does not stand up to reading.
    policy: str = ""
    half: str = ""  # develop or report, when the halves of a suite go through its files


@dataclass
class Item:
    name: str
    files: list[Path]
    flags: list[str]
    questions: list[Question]
    language: str = "C"
    half: str = ""  # develop or report
    models: list[str] = field(default_factory=list)  # what the suite says of functions: --model


def half_of(name: str) -> str:
    """Rules are found on one half and judged on the other."""
    return "develop" if zlib.crc32(name.encode()) % 2 == 0 else "report"


# --- Juliet ----------------------------------------------------------------

# The block is kept in a global: reachable to the end, a leak by label only.
JULIET_GLOBAL = ("45", "68")


def juliet_cases(root: Path, weakness: str) -> list[Item]:
    folder = root / "testcases" / weakness
    support = root / "testcasesupport"
    cases: dict[str, list[Path]] = {}
    for path in sorted([*folder.glob("s*/CWE*.c*"), *folder.glob("CWE*.c*")]):
        # name__kind_NN[part]: the parts of one case differ in a letter or word.
        match = re.match(r"(.*_\d\d)(?:[a-e]|_bad|_good\w*)?\.(c|cpp)$", path.name)
        if match and "_w32" not in path.name and "w32_" not in path.name:
            cases.setdefault(match[1], []).append(path)
    items = []
    for name, files in cases.items():
        policy = "global" if name[-2:] in JULIET_GLOBAL else ""
        if "realloc" in name:
            policy = policy or "oom"
        language = "C++" if files[0].suffix == ".cpp" else "C"
        for define, leaks in (("OMITGOOD", True), ("OMITBAD", False)):
            flags = [f"-I{support}", f"-D{define}", "-DINCLUDEMAIN"]
            items.append(Item(name, [*files, support / "io.c"], flags,
                              [Question(name, leaks, policy=policy)], language, half_of(name)))
    return items


def juliet(root: Path) -> list[Item]:
    return juliet_cases(root, "CWE401_Memory_Leak")


def juliet_double_free(root: Path) -> list[Item]:
    return juliet_cases(root, "CWE415_Double_Free")


def juliet_mismatched(root: Path) -> list[Item]:
    return juliet_cases(root, "CWE762_Mismatched_Memory_Management_Routines")


# --- Toyota ITC ------------------------------------------------------------

ITC_GLOBAL = (7, 16, 17, 18)
ITC_WRONG = (17,)  # labelled clean: a goto skips the free


def itc(root: Path) -> list[Item]:
    items = []
    for folder, leaks in (("01.w_Defects", True), ("02.wo_Defects", False)):
        path = root / folder / "memory_leak.c"
        text = path.read_text(errors="replace")
        lines = text.splitlines()
        spans: dict[int, list[range]] = {}
        for function in functions(text):
            head = " ".join(lines[function.first - 1:function.first + 3])
            if match := re.search(r"memory_leak_(\d+)", head):
                spans.setdefault(int(match[1]), []).append(range(function.first, function.last + 1))
        questions = [Question(f"memory_leak_{n:03}", leaks, path.name, where,
                              policy="label" if not leaks and n in ITC_WRONG else
                              "global" if n in ITC_GLOBAL else "")
                     for n, where in sorted(spans.items())]
        items.append(Item(folder, [path], ["-w", f"-I{root / 'include'}"], questions))
    return items


# --- SVF -------------------------------------------------------------------

SVF_SAFE = ("SAFEMALLOC", "NFRLEAKFP", "PLKLEAKFP")
SVF_LEAK = ("PLKMALLOC", "NFRMALLOC", "CLKMALLOC", "LEAKFN")

# Labels that were read and are wrong, with the reason. They are counted as the suite has
# them, and left out in a column of their own.
SVF_WRONG = {
    "malloc9:21": "stored through a null pointer at an index that is not initialised",
    "malloc10:22": "stored through memory and an index that are not initialised",
    "malloc27:21": "stored through a block that was freed",
    "malloc28:21": "labelled safe: freed through a block that was freed before",
    "malloc33:15": "labelled safe: of two blocks that are made here one is freed",
    "malloc33:16": "labelled a leak: both blocks that are made here are freed",
    "malloc37:19": "labelled safe: of two blocks that are made here one is freed",
    "malloc39:12": "needs the address of a block to be 10",
    "malloc39:13": "needs the address of a block to be 10",
    "malloc43:16": "labelled safe: a loop makes three blocks and one is freed",
    "malloc47:13": "needs the address of a block to be 1",
    "malloc64:50": "stored through a null pointer",
    "malloc53:54": "lost in a loop up to a number that is 0, as nothing writes it",
    "malloc53:57": "lost in a loop up to a number that is 0, as nothing writes it",
    "malloc53:58": "lost in a loop up to a number that is 0, as nothing writes it",
    "sp8:36": "labelled safe: for 0 the other pointer is freed, which is not initialised",
    "sp12:13": "the loop has no end but by the branch that frees",
    "sp13a:25": "labelled safe: freed through a block that was freed before",
}
SVF_OOM = {"malloc20:13"}  # lost when a later allocation fails


def svf(root: Path) -> list[Item]:
    items = []
    for path in sorted((root / "src" / "mem_leak").glob("*.c")):
        questions = []
        text = re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: re.sub(r"[^\n]", " ", m[0]),
                      path.read_text(errors="replace"), flags=re.S)
        for number, line in enumerate(text.splitlines(), 1):
            for word in re.findall(r"\b[A-Z]+\b(?=\s*\()", line):
                if word in SVF_SAFE + SVF_LEAK:
                    name = f"{path.stem}:{number}"
                    policy = "label" if name in SVF_WRONG else "oom" if name in SVF_OOM else ""
                    questions.append(Question(name, word in SVF_LEAK, path.name,
                                              [range(number, number + 1)], by_allocation=True,
                                              policy=policy))
        if questions:
            items.append(Item(path.stem, [path], ["-std=gnu89", "-w", f"-I{root}"], questions,
                              half=half_of(path.stem)))
    return items


# --- Infer's own tests -----------------------------------------------------

INFER_FILES = {
    "c": ("memory_leak.c", "memory_leak_more.c", "getcwd.c"),
    "cpp": ("leaks.cpp", "memory_leak.cpp", "unique_ptr_destructor.cpp", "shared_ptr_destructor.cpp",
            "unique_ptr_deref.cpp"),
}


def function_name(lines: list[str], function: Function) -> str:
    head = " ".join(lines[function.first - 1:function.last]).split("{", 1)[0]
    match = re.search(r"([~\w]+)\s*\(", head)
    return match[1] if match else ""


INFER_MODELS = {"malloc": "alloc", "realloc": "realloc:0", "free": "free:0"}


def infer_models(folder: Path, text: str) -> list[str]:
    """The functions that the tests' own configuration tells Infer about."""
    path = folder / ".inferconfig"
    said = json.loads(path.read_text()) if path.exists() else {}
    declared = sorted(set(re.findall(r"^[\w \*]*?(\w+)\([^;{}]*\);", text, re.M)))
    out = []
    for word, effect in INFER_MODELS.items():
        pattern = said.get(f"pulse-model-{word}-pattern", "(?!)")
        pattern = re.sub(r"\\([()|])", r"\1", pattern)  # as OCaml writes it
        out += [f"{name} {effect}" for name in declared if re.search(pattern, name)]
    return out


def infer(root: Path) -> list[Item]:
    items = []
    for language, names in INFER_FILES.items():
        folder = root / "infer" / "tests" / "codetoanalyze" / language / "pulse"
        expected = set()
        for line in (folder / "issues.exp").read_text().splitlines():
            parts = [part.strip() for part in line.split(",")]
            if len(parts) > 3 and parts[3].startswith("MEMORY_LEAK"):
                expected.add((Path(parts[0]).name, parts[1].split("::")[-1]))
        for name in names:
            path = folder / name
            text = path.read_text()
            lines = text.splitlines()
            questions = []
            for function in functions(text):
                called = function_name(lines, function)
                is_bad = "_bad" in called and ((name, called) in expected or called.startswith("FN_"))
                is_ok = "_ok" in called or "_good" in called
                if is_bad or is_ok:
                    questions.append(Question(f"{name}:{called}", is_bad, name,
                                              [range(function.first, function.last + 1)],
                                              half=half_of(f"{name}:{called}")))
            flags = ["-w", "-std=c++17"] if language == "cpp" else ["-w"]
            items.append(Item(name, [path], flags, questions, "C++" if language == "cpp" else "C",
                              models=infer_models(folder, text)))
    return items


@dataclass
class Suite:
    read: Callable[[Path], list[Item]]
    folder: str  # below --suites=DIR
    defect: str = "leak"


SUITES = {
    "juliet": Suite(juliet, "juliet"),
    "itc": Suite(itc, "itc"),
    "svf": Suite(svf, "svf"),
    "infer": Suite(infer, "infer"),
    "juliet415": Suite(juliet_double_free, "juliet", "double-free"),
    "juliet762": Suite(juliet_mismatched, "juliet", "mismatched-free"),
}
