"""What an engine said about one run of one program, in one shape for all."""

from __future__ import annotations

from dataclasses import dataclass, field

from truth import Count


@dataclass(frozen=True)
class Frame:
    function: str | None = None
    file: str | None = None  # as the engine gives it
    line: int | None = None


@dataclass
class FoundLeak:
    kind: str  # "lost", "forgotten", "stale"
    direct: Count
    indirect: Count = Count()
    allocation: list[Frame] = field(default_factory=list)  # innermost first
    loss: list[Frame] | None = None
    cause: str | None = None
    holder: str | None = None
    use: list[Frame] | None = None
    # An indirect block that the engine lists by itself, with its own
    # allocation, instead of counting it with its holder.
    attributed: bool = False

    @property
    def total(self) -> Count:
        return self.direct + self.indirect


@dataclass
class Observation:
    status: int | None  # as subprocess has it; None when the program did not run
    stdout: bytes
    leaks: list[FoundLeak]
    errors: list[str] = field(default_factory=list)  # of memory use; peers see them

    def lost(self) -> list[FoundLeak]:
        return [leak for leak in self.leaks if leak.kind == "lost"]

    def total(self, kind: str) -> Count:
        return sum((leak.total for leak in self.leaks if leak.kind == kind), Count())


class EngineError(Exception):
    """The engine itself failed: no report, or one that cannot be read."""
