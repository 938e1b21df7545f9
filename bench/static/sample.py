"""How many findings are true: a seeded sample over packages that nothing was made with.

`plumb check` with its defaults on each package of SAMPLE (packages.py, chosen by
draw.py before anything was run on them). Of all that it shows, 100 are drawn by SEED, or
all if there are fewer, and judged by labels that people wrote after reading the source
along the path (labels/sample.json): true, false, or doubtful, which counts as false. What
nobody has read yet is counted apart and lowers the figure, too.

Labels go by package, place of the loss and id of the finding; where the id is new because a
name or a path changed, by the place of the allocation. `first` marks what was shown when the
package was first looked at, so that the figure of first contact can always be told from
that of today; rules are made on the packages of the half `develop` only. `second` is the
verdict of another reader, who did not know the first.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from static import packages

LABELS = packages.LABELS / "sample.json"
SEED = 100
MOST = 100


@dataclass
class Shown:
    """What one package gives."""

    name: str
    lines: int
    cpu: float
    findings: list[dict]
    hidden: int
    verdicts: dict[str, int] = field(default_factory=dict)


def place(frame: dict) -> str:
    return f"{Path(frame.get('file', '')).name}:{frame.get('line', 0)}"


def places(leak: dict) -> tuple[str, str]:
    loss = ((leak.get("loss") or {}).get("stack") or [{}])[0]
    return place(leak["allocation"]["stack"][-1]), place(loss)


def read_labels() -> list[dict]:
    return json.loads(LABELS.read_text())["findings"] if LABELS.exists() else []


def verdict_of(labels: list[dict], package: str, leak: dict) -> str:
    own = [each for each in labels if each["package"] == package]
    # The same block may be lost elsewhere than where somebody looked.
    at = [each for each in own if each["loss"] == places(leak)[1]]
    same = ([each for each in at if each["id"] == leak["id"]]
            or [each for each in at if each["allocation"] == places(leak)[0]])
    return "unread" if not same else "true" if same[0]["verdict"] == "true" else "false"


def check_package(name: str, plumb: Path, folder: Path, conf: list[Path]) -> Shown:
    target = packages.prepared(name, packages.SAMPLE[name], folder, conf)
    units = packages.units_of(target / "plumb-units" / "compile_commands.json", "")
    with tempfile.TemporaryDirectory() as cache:
        done, report = packages.check(plumb, target, Path(cache), folder / f"sample-{name}.json")
    found = packages.shown(report)
    return Shown(name, packages.lines_of(units), done.cpu, found, len(report["leaks"]) - len(found))


def draw(all_shown: list[Shown]) -> list[tuple[str, dict]]:
    """By a lot that each finding draws for itself: one that is mended away makes room for one
    other and leaves the rest of the sample as it is. In the order of the packages."""
    whole = [(each.name, leak) for each in all_shown
             for leak in sorted(each.findings, key=lambda leak: leak["id"])]

    def lot(entry: tuple[str, dict]) -> str:
        return hashlib.sha256(f"{SEED} {entry[0]} {entry[1]['id']}".encode()).hexdigest()

    most = sorted(map(lot, whole))[:MOST]
    return [entry for entry in whole if lot(entry) <= most[-1]] if most else []


def share(count: dict[str, int]) -> str:
    read = sum(count.values())
    return f"{count['true']} of {read} = {100 * count['true'] / max(1, read):.0f}%"


def at_first(labels: list[dict]) -> str:
    out = []
    for half in ("develop", "report"):
        count = {"true": 0, "false": 0}
        for each in labels:
            if each.get("first") and packages.SAMPLE[each["package"]].half == half:
                count["true" if each["verdict"] == "true" else "false"] += 1
        out.append(f"{half} {share(count)}")
    return ", ".join(out)


def second_reading(labels: list[dict]) -> str:
    """Those that another person judged without seeing the first verdict (`second`)."""
    both = [(each["verdict"] == "true", each["second"] == "true") for each in labels
            if "second" in each]
    agree = sum(first == second for first, second in both)
    return (f"Read twice: {len(both)}, of which the readers agree on {agree}; true to the first "
            f"{sum(first for first, _ in both)}, to the second {sum(second for _, second in both)}, "
            f"to both {sum(first and second for first, second in both)}.")


def run(plumb: Path, work: Path | None, names: list[str], prepare: bool, verbose: bool) -> None:
    folder = (work or Path(tempfile.mkdtemp(prefix="plumb-sample-"))).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    conf: list[Path] = []
    labels = read_labels()
    all_shown: list[Shown] = []
    print("\n### sample\n")
    for name in names or packages.SAMPLE:
        try:
            if prepare:
                print(packages.prepared(name, packages.SAMPLE[name], folder, conf), flush=True)
            else:
                all_shown.append(check_package(name, plumb, folder, conf))
        except Exception as why:  # noqa: BLE001 - one package, not the table
            print(f"{name}: absent: {why}", flush=True)
    if prepare:
        return
    sample = draw(all_shown)
    for each in all_shown:
        each.verdicts = {"true": 0, "false": 0, "unread": 0}
    by_name = {each.name: each for each in all_shown}
    for name, leak in sample:
        verdict = verdict_of(labels, name, leak)
        by_name[name].verdicts[verdict] += 1
        if verbose:
            print("  ", name, leak["id"], *places(leak), verdict)
    print("| package | half | kLOC | CPU | shown | undecided, hidden | drawn | true | false | unread |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    whole = {"true": 0, "false": 0, "unread": 0}
    for each in all_shown:
        package, count = packages.SAMPLE[each.name], each.verdicts
        print(f"| {each.name} ({package.language}) | {package.half} | {each.lines / 1000:.1f} "
              f"| {each.cpu:.0f} s | {len(each.findings)} | {each.hidden} | {sum(count.values())} "
              f"| {count['true']} | {count['false']} | {count['unread']} |")
        for verdict, number in count.items():
            whole[verdict] += number
    lines = sum(each.lines for each in all_shown)
    shown = sum(len(each.findings) for each in all_shown)
    true_share = whole["true"] / max(1, sum(whole.values()))
    print(f"\nTrue: {share(whole)} (bar 85%), {whole['unread']} unread. True findings per thousand "
          f"lines, the sample's share of all {shown} over {lines:,} lines: "
          f"{1000 * true_share * shown / max(1, lines):.2f} (bar 0.1).")
    for half in ("develop", "report"):
        count = {"true": 0, "false": 0, "unread": 0}
        for each in all_shown:
            if packages.SAMPLE[each.name].half == half:
                count = {verdict: count[verdict] + each.verdicts[verdict] for verdict in count}
        print(f"Half {half}: {share(count)}.")
    print(f"At first contact: {at_first(labels)}.")
    print(second_reading(labels))
