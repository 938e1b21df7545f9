"""Real projects with labels: SAVER's alarms, and leaks that projects' histories fixed.

Both are kept outside of the repository, each project with a compile_commands.json of
its own; a project without one is named and left out. A project is checked as a whole
and the findings are compared with places.

saver (DIR/saver/benchmarks): alarms of Infer that people have read, each with the line
of the allocation and that of the loss, true or false. The same allocation is often in
several, true and false ones, that differ in the place of the loss; of such a block
`plumb check` gives one finding. So a true alarm is found when a finding is allocated at
its line (how many are lost at its place, too, is said beside it); a false one is reported
when a finding is allocated and lost where it says. Half of the projects are for
developing, the others for the report (see half_of).
"""

from __future__ import annotations

import json
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import measure
from static.suites import half_of

NEAR = 2  # lines between what two compilers call the place of a statement


@dataclass
class Alarm:
    name: str
    leaks: bool
    file: str  # below the project
    line: int  # of the allocation
    loss_file: str
    loss_line: int


@dataclass
class Project:
    name: str
    folder: Path
    alarms: list[Alarm]

    @property
    def database(self) -> Path:
        return self.folder / "compile_commands.json"

    @property
    def half(self) -> str:
        return half_of(self.name)


@dataclass
class Checked:
    """The findings of one run, or why there is none."""

    leaks: list[dict] = field(default_factory=list)
    cpu: float = 0.0
    problem: str = ""


def check(plumb: Path, database: Path, options: tuple[str, ...]) -> Checked:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        done = measure.run([str(plumb), "check", "--jobs=1", "--format=json", f"--output={report}",
                            *options, "-p", str(database.parent)])
        if done.status not in (0, 1) or not report.exists():
            return Checked(cpu=done.cpu, problem=done.stderr.decode(errors="replace")[-300:])
        return Checked(json.loads(report.read_text())["leaks"], done.cpu)


def is_at(frame: dict, file: str, line: int, near: int = NEAR) -> bool:
    # Sources include each other by names of their own: the end of the path counts.
    path = Path(frame.get("file", ""))
    parts = Path(file).parts
    return path.parts[-len(parts):] == parts and abs(frame.get("line", 0) - line) <= near


def frames(leak: dict, what: str) -> list[dict]:
    return (leak.get(what) or {}).get("stack", [])


def names_alarm(leak: dict, alarm: Alarm) -> bool:
    # What a lost block holds is lost with it and no finding of its own: the path names it.
    held = [step["location"] for step in leak.get("path", []) if step["event"] == "holds"]
    return any(is_at(frame, alarm.file, alarm.line)
               for frame in [*frames(leak, "allocation"), *held])


def is_lost_there(leak: dict, alarm: Alarm) -> bool:
    # Infer names the last line on which the block was still there; the scope may end a
    # line or two behind it.
    return any(is_at(frame, alarm.loss_file, alarm.loss_line) for frame in frames(leak, "loss"))


def saver(root: Path) -> list[Project]:
    folder = root / "benchmarks"
    projects = []
    for name, labels in sorted(json.loads((folder / "benchmarks.json").read_text()).items()):
        alarms = []
        for kind in ("true_alarms", "false_alarms"):
            for number in labels["MEMORY_LEAK"][kind]:
                path = folder / "error-reports" / "memory-leak" / f"{name}_{number}.json"
                read = json.loads(path.read_text())
                source, sink = read["source"], read["sink"]
                alarms.append(Alarm(f"{name}_{number}", kind == "true_alarms", source["filepath"],
                                    source["line"], sink["filepath"], sink["line"]))
        projects.append(Project(name, folder / "projects" / name, alarms))
    return projects


def compiled_files(database: Path) -> set[Path]:
    return {(Path(each["directory"]) / each["file"]).resolve()
            for each in json.loads(database.read_text())}


POLICIES = {"plumb check": (), "plumb check --undecided": ("--undecided",),
            "plumb check --oom": ("--oom",)}


def measure_saver(root: Path, plumb: Path, half: str, verbose: bool, jobs: int) -> None:
    projects = [p for p in saver(root) if half in ("all", p.half)]
    present = [p for p in projects if p.database.exists()]
    for project in projects:
        if project not in present:
            print(f"{project.name}: absent, {project.database.name} is not there")
    print("| project | half | " + " | ".join(f"{name}: true found, false reported"
                                             for name in POLICIES) + " |")
    print("|---" * (2 + len(POLICIES)) + "|")
    totals = {name: [0, 0, 0, 0, 0] for name in POLICIES}

    def row(project: Project) -> str:
        sources = compiled_files(project.database)
        alarms = [a for a in project.alarms if (project.folder / a.file).resolve() in sources]
        cells = [project.name, project.half]
        for name, options in POLICIES.items():
            done = check(plumb, project.database, options)
            if done.problem:
                cells.append(f"not analysed: {' '.join(done.problem.split())}")
                continue
            shown = [leak for leak in done.leaks if "suppressed" not in leak]
            allocated = {a.name: [leak for leak in shown if names_alarm(leak, a)] for a in alarms}
            there = {a.name for a in alarms
                     if any(is_lost_there(leak, a) for leak in allocated[a.name])}
            said = there | {a.name for a in alarms if a.leaks and allocated[a.name]}
            true = [a for a in alarms if a.leaks]
            counts = [sum(a.name in said for a in true), len(true),
                      sum(a.name in said for a in alarms if not a.leaks), len(alarms) - len(true),
                      sum(a.name in there for a in true)]
            totals[name] = [a + b for a, b in zip(totals[name], counts, strict=True)]
            cells.append(f"{counts[0]} of {counts[1]} ({counts[4]} at the place), "
                         f"{counts[2]} of {counts[3]}")
            if verbose:
                missed = [a.name for a in true if a.name not in said]
                cried = [a.name for a in alarms if not a.leaks and a.name in said]
                cells[-1] += f" (missed: {' '.join(missed)}; false: {' '.join(cried)})"
        left_out = len(project.alarms) - len(alarms)
        cells[0] += f" ({left_out} alarms in files that do not compile)" if left_out else ""
        return "| " + " | ".join(cells) + " |"

    with ThreadPoolExecutor(jobs) as pool:
        for line in pool.map(row, present):
            print(line, flush=True)
    cells = [f"{a} of {b} = {100 * a / max(1, b):.0f}% ({e} at the place), "
             f"{c} of {d} = {100 * c / max(1, d):.0f}%" for a, b, c, d, e in totals.values()]
    print("| all | | " + " | ".join(cells) + " |", flush=True)
