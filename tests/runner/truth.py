"""What is true about a program: its expected leaks and where they happen.

Annotated cases (cases.py) and generated programs (generator/) both end in the
`Truth` defined here; judge.py compares it with what an engine said.

A label names one group of blocks that are lost, or forgotten, together: the
block that goes first (direct) and what hangs on it (indirect). Lines are those
of the program's one source file.
"""

from __future__ import annotations

from dataclasses import dataclass, field

# What an engine can be right or wrong about, in the order of the tables.
ASPECTS = (
    "status",       # output and exit status of the program are its own
    "found",        # the loss is reported
    "false-alarm",  # and nothing else is
    "size",         # blocks and bytes, direct and indirect
    "alloc",        # line of the allocation
    "forgotten",    # what is still reachable at the end is listed as such
    "place",        # line of the loss, as the contract defines it
    "function",     # source function of the loss
    "holder",       # name of the last holder
    "cause",
    "use",          # line of the last use
)

CAUSES = frozenset({
    "overwritten", "scope-end", "holder-freed", "holder-lost", "unmapped",
    "thread-end", "discarded", "escaped-throw",
})

# Causes for which optimised code may drop the reference anywhere between the
# last use and the end of the function (contract, section 2).
SCOPE_CAUSES = frozenset({"scope-end", "discarded"})


@dataclass(frozen=True)
class Count:
    """So many blocks, so many bytes."""

    blocks: int = 0
    bytes: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.blocks + other.blocks, self.bytes + other.bytes)

    def __str__(self) -> str:
        return f"{self.blocks} block{'' if self.blocks == 1 else 's'} {self.bytes} bytes"


@dataclass
class LossPlace:
    line: int
    holders: tuple[str, ...] = ()  # accepted names; empty: no holder to name


@dataclass
class Label:
    """One group of blocks with one fate."""

    name: str
    kind: str  # "lost" or "forgotten"
    direct: Count
    indirect: Count = Count()
    cause: str | None = None
    allocs: list[int] = field(default_factory=list)
    losses: list[LossPlace] = field(default_factory=list)
    uses: list[int] = field(default_factory=list)

    @property
    def total(self) -> Count:
        return self.direct + self.indirect


@dataclass
class Truth:
    labels: list[Label]
    # Lines of allocation wrappers: the caller's line is the allocation's.
    wrappers: list[int] = field(default_factory=list)

    def of_kind(self, kind: str) -> list[Label]:
        return [label for label in self.labels if label.kind == kind]

    def total(self, kind: str) -> Count:
        return sum((label.total for label in self.of_kind(kind)), Count())

    @property
    def leaks(self) -> bool:
        return bool(self.of_kind("lost"))
