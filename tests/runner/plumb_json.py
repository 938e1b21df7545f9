"""Reads Plumb's JSON report (schema plumb-report/1) for the tests.

Written apart from src/report on purpose: the tests read what the contract
says, not what the program happens to read back.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from observed import EngineError, FoundLeak, Frame
from truth import Count


def _stack(frames: list[dict[str, Any]]) -> list[Frame]:
    return [Frame(f.get("function"), f.get("file"), f.get("line")) for f in frames]


def _count(value: dict[str, Any] | None) -> Count:
    return Count(value["blocks"], value["bytes"]) if value else Count()


def _leak(leak: dict[str, Any]) -> FoundLeak:
    loss = leak.get("loss") or {}
    use = leak.get("lastUse")
    return FoundLeak(
        kind=leak["kind"],
        direct=Count(leak["blocks"], leak["bytes"]),
        indirect=_count(leak.get("indirect")),
        allocation=_stack(leak["allocation"].get("stack", [])),
        loss=_stack(loss["stack"]) if loss.get("stack") else None,
        cause=loss.get("cause"),
        holder=(loss.get("holder") or {}).get("name"),
        use=_stack(use["stack"]) if use and use.get("stack") else None,
    )


def read_report(path: Path) -> list[FoundLeak]:
    """The leaks of a report whose totals add up."""
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        if not report["schema"].startswith("plumb-report/1"):
            raise EngineError(f"{path}: schema {report['schema']}")
        # What is hidden is not said.
        leaks = [_leak(leak) for leak in report["leaks"] if "suppressed" not in leak]
        totals = {name: _count(report["totals"][name]) for name in
                  ("allocated", "freed", "lost", "stale", "forgotten", "excluded")}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise EngineError(f"plumb's report {path}: {type(error).__name__}: {error}") from error
    fates = sum((totals[n] for n in ("freed", "lost", "stale", "forgotten", "excluded")), Count())
    if fates != totals["allocated"]:
        raise EngineError(f"{path}: {totals['allocated']} allocated, but the fates sum to {fates}")
    listed = sum((leak.total for leak in leaks if leak.kind == "lost"), Count())
    if listed != totals["lost"]:
        raise EngineError(f"{path}: {totals['lost']} lost in total, {listed} in the list")
    return leaks
