"""Counts right and wrong answers of tools to the questions of a suite."""

from __future__ import annotations

from dataclasses import dataclass, field

from static.suites import Item, Question
from static.tools import Answer, Finding


def names(finding: Finding, question: Question, item: Item) -> bool:
    if not question.file:
        return True
    if question.by_allocation and not finding.allocation:
        # The tool names the loss alone: the file is all that can be compared.
        return question.leaks or not any(other.leaks for other in item.questions)
    lines = finding.allocation if question.by_allocation and finding.allocation else finding.lines
    return any(file == question.file and any(line in span for span in question.spans)
               for file, line in lines)


@dataclass
class Score:
    found: int = 0
    leaks: int = 0
    alarms: int = 0
    clean: int = 0
    broken: int = 0
    cpu: float = 0.0
    missed: list[str] = field(default_factory=list)
    false: list[str] = field(default_factory=list)

    def add(self, item: Item, answer: Answer, skipped: frozenset[str] = frozenset()) -> None:
        self.cpu += answer.cpu
        self.broken += bool(answer.broken)
        for question in item.questions:
            if question.policy in skipped and (question.leaks or question.policy == "label"):
                continue
            yes = any(names(finding, question, item) for finding in answer.findings)
            if question.leaks:
                self.leaks += 1
                self.found += yes
                if not yes:
                    self.missed.append(question.name)
            else:
                self.clean += 1
                self.alarms += yes
                if yes:
                    self.false.append(question.name)

    def recall(self) -> str:
        return f"{self.found} of {self.leaks} = {100 * self.found / max(1, self.leaks):.1f}%"

    def precision(self) -> str:
        return f"{100 * self.found / max(1, self.found + self.alarms):.1f}%"

    def false_alarms(self) -> str:
        return f"{self.alarms} of {self.clean} = {100 * self.alarms / max(1, self.clean):.1f}%"
