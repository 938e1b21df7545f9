"""Compares what an engine said with what is true, aspect by aspect.

A verdict exists only where there is something to judge: an engine that gives
no place of loss for a leak gets no verdict for `place` unless it claims that
aspect, and then the missing answer is a wrong one. Labels that share their
allocation lines are judged together where only the allocation tells them
apart.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from observed import FoundLeak, Frame, Observation
from source import Function, function_at, functions
from truth import SCOPE_CAUSES, Count, Label, Truth


@dataclass(frozen=True)
class Verdict:
    aspect: str
    label: str | None  # None: about the whole program
    passed: bool
    detail: str = ""


@dataclass
class Group:
    """Labels of one kind with the same allocation lines, and what was found there."""

    labels: list[Label]
    leaks: list[FoundLeak]
    by_size_only: bool = False

    @property
    def name(self) -> str:
        return self.labels[0].name

    @property
    def lines(self) -> list[int]:
        return self.labels[0].allocs

    def expected(self) -> Count:
        return sum((label.total for label in self.labels), Count())

    def found(self) -> Count:
        return sum((leak.total for leak in self.leaks), Count())


def in_file(frame: Frame, source: Path) -> bool:
    return (frame.file is not None and frame.line is not None
            and os.path.basename(frame.file) == source.name)


def user_line(stack: list[Frame], source: Path, wrappers: Sequence[int] = ()) -> int | None:
    """Line of the innermost frame in the program's own source, wrappers left out."""
    return next((frame.line for frame in stack
                 if in_file(frame, source) and frame.line not in wrappers), None)


class Judge:
    def __init__(self, source: Path, truth: Truth, claims: frozenset[str],
                 optimised: bool, counts_direct: bool = True, counts: bool = True) -> None:
        self.source = source
        self.truth = truth
        self.claims = claims
        self.optimised = optimised
        self.counts_direct = counts_direct
        self.counts = counts  # False: findings are sites, blocks and bytes say nothing
        self.functions = functions(source.read_text(encoding="utf-8"))
        self.verdicts: list[Verdict] = []

    def add(self, aspect: str, label: str | None, passed: bool, detail: str = "") -> None:
        if aspect in self.claims:
            self.verdicts.append(Verdict(aspect, label, passed, "" if passed else detail))

    def judge(self, seen: Observation) -> list[Verdict]:
        groups, strays = self.match(seen)
        for group in groups:
            self.judge_group(group)
        for leak in strays:
            self.add("false-alarm", None, False, "reported lost: " + describe(leak, self.source))
        self.judge_forgotten(seen)
        if not any(v.aspect == "false-alarm" and not v.passed for v in self.verdicts):
            self.add("false-alarm", None, True)
        return self.verdicts

    def match(self, seen: Observation) -> tuple[list[Group], list[FoundLeak]]:
        """Leaks by allocation line; what remains, by size, to labels still unmatched."""
        groups: list[Group] = []
        for label in self.truth.of_kind("lost"):
            # What goes with its holder is the holder's finding.
            if not self.counts and label.cause == "holder-lost":
                continue
            home = next((g for g in groups if g.lines == label.allocs), None)
            if home:
                home.labels.append(label)
            else:
                groups.append(Group([label], []))
        strays: list[FoundLeak] = []
        for leak in seen.lost():
            line = user_line(leak.allocation, self.source, self.truth.wrappers)
            home = next((g for g in groups if line in g.lines), None)
            if line is None and not self.counts:
                # Lost within the wrapper: no caller is on the path.
                lost = user_line(leak.loss or [], self.source)
                home = next((g for g in groups for label in g.labels
                             if lost in [loss.line for loss in label.losses]), None)
            (home.leaks if home else strays).append(leak)
        for group in groups:
            if not group.leaks and self.counts:
                twin = next((s for s in strays if s.total == group.expected()), None)
                if twin:
                    strays.remove(twin)
                    group.leaks.append(twin)
                    group.by_size_only = True
        return groups, strays

    def judge_group(self, group: Group) -> None:
        expected, found = group.expected(), group.found()
        is_found = found.blocks > 0 if self.counts else bool(group.leaks)
        self.add("found", group.name, is_found, f"no loss reported, expected {expected}")
        if not is_found:
            return
        if not self.counts:
            pass
        elif found.blocks > expected.blocks:
            self.add("false-alarm", group.name, False, f"{found} lost, expected {expected}")
        else:
            self.add("size", group.name, found == expected and self.direct_fits(group),
                     f"{self.shape(group)}, expected {self.expected_shape(group)}")
        self.add("alloc", group.name, not group.by_size_only,
                 f"allocated at {describe_stack(group.leaks[0].allocation)}, "
                 f"expected line {lines(group.lines)}")
        for label in group.labels:
            self.judge_loss(label, [leak for leak in group.leaks if not leak.attributed])

    def direct_fits(self, group: Group) -> bool:
        if not self.counts_direct:
            return True
        direct = sum((leak.direct for leak in group.leaks), Count())
        return direct == sum((label.direct for label in group.labels), Count())

    def shape(self, group: Group) -> str:
        direct = sum((leak.direct for leak in group.leaks), Count())
        return f"{group.found()} lost ({direct} directly)"

    def expected_shape(self, group: Group) -> str:
        direct = sum((label.direct for label in group.labels), Count())
        return f"{group.expected()} ({direct} directly)"

    def judge_loss(self, label: Label, leaks: list[FoundLeak]) -> None:
        """The best-placed of the leaks of this site speaks for the label."""
        places = [self.place(label, leak) for leak in leaks if leak.loss is not None]
        right = [leak for leak in leaks if leak.loss is not None and self.place(label, leak)[0]]
        speaker = (right or [leak for leak in leaks if leak.loss is not None] or [None])[0]
        if speaker is None:
            for aspect in ("place", "function", "holder", "cause", "use"):
                if aspect != "use" or label.uses:
                    self.add(aspect, label.name, False, "not reported")
            return
        where = describe_stack(speaker.loss or [])
        accepted = lines([loss.line for loss in label.losses])
        self.add("place", label.name, bool(right), f"lost at {where}, expected line {accepted}")
        self.add("function", label.name, any(function for _, function in places),
                 f"lost at {where}, expected the function of line {accepted}")
        names = {name for loss in label.losses for name in loss.holders}
        if names:
            self.add("holder", label.name, normal(speaker.holder) in {normal(n) for n in names},
                     f"holder {speaker.holder!r}, expected {' or '.join(sorted(names))}")
        self.add("cause", label.name, speaker.cause == label.cause,
                 f"cause {speaker.cause}, expected {label.cause}")
        if label.uses:
            line = user_line(speaker.use or [], self.source)
            self.add("use", label.name, line in label.uses,
                     f"last use at line {line}, expected {lines(label.uses)}")

    def place(self, label: Label, leak: FoundLeak) -> tuple[bool, bool]:
        """Is the line of the loss right, and its function?"""
        line = user_line(leak.loss or [], self.source)
        if line is None:
            return False, False
        accepted = [loss.line for loss in label.losses]
        homes = [f for f in (function_at(self.functions, a) for a in accepted) if f]
        in_function = line in accepted or any(line in home for home in homes)
        exact = line in accepted
        if not exact and self.optimised and label.cause in SCOPE_CAUSES:
            exact = any(line in home and line >= self.last_use(label, home) for home in homes)
        return exact, in_function

    def last_use(self, label: Label, home: Function) -> int:
        inside = [line for line in label.uses or label.allocs if line in home]
        return max(inside, default=home.first)

    def judge_forgotten(self, seen: Observation) -> None:
        for label in self.truth.of_kind("forgotten"):
            here = [leak for leak in seen.leaks if leak.kind == "forgotten" and
                    user_line(leak.allocation, self.source, self.truth.wrappers) in label.allocs]
            found = sum((leak.total for leak in here), Count())
            self.add("forgotten", label.name, found == label.total,
                     f"{found} forgotten at line {lines(label.allocs)}, expected {label.total}")


def normal(name: str | None) -> str | None:
    return None if name is None else "".join(name.split())


def lines(numbers: list[int]) -> str:
    return " or ".join(str(n) for n in sorted(set(numbers)))


def describe_stack(stack: list[Frame], limit: int = 4) -> str:
    def one(frame: Frame) -> str:
        place = f"{os.path.basename(frame.file)}:{frame.line}" if frame.file else "?"
        return f"{frame.function or '?'} ({place})"
    return " < ".join(one(frame) for frame in stack[:limit]) or "an unknown place"


def describe(leak: FoundLeak, source: Path) -> str:
    line = user_line(leak.allocation, source)
    at = f"line {line}" if line else describe_stack(leak.allocation)
    return f"{leak.total} allocated at {at}"
