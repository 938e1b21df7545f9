#!/usr/bin/env python3
"""Runs all available engines on one program: none may contradict another.

    agree.py [--plumb=BIN] FILE.c

Two engines contradict each other about the blocks of an allocation line when
one says they are lost and the other does not, although both claim to find
losses. What an annotated case grants an engine as a gap is left out of the
comparison. Exit status: 0 no contradiction, 1 one, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from build import BuildError, Config
from cases import Case, CaseError, read_case
from engines import Engine, Program, make_engines
from judge import user_line
from observed import EngineError, Observation
from truth import Count, Truth

# Gaps that excuse a different answer to "which blocks are lost?".
EXCUSING = frozenset({"found", "false-alarm", "size", "alloc"})


def losses(seen: Observation, source: Path, wrappers: list[int]) -> dict[int | None, Count]:
    """Lost blocks by allocation line, those that hang on others included."""
    sums: dict[int | None, Count] = {}
    for leak in seen.lost():
        line = user_line(leak.allocation, source, wrappers)
        sums[line] = sums.get(line, Count()) + leak.total
    return sums


def compare(answers: dict[str, Observation], source: Path, wrappers: list[int]) -> list[str]:
    """Contradictions between each engine and the first.

    An engine may count indirect blocks with their holder, another by their own
    line: sums are compared for the program, lines only where both name them.
    """
    contradictions: list[str] = []
    (first, reference), *others = answers.items()
    expected = losses(reference, source, wrappers)
    total = reference.total("lost")
    for name, seen in others:
        if seen.total("lost") != total:
            contradictions.append(
                f"{first} says {total} lost, {name} {seen.total('lost')}\n"
                f"  {first}: {by_line(expected)}\n"
                f"  {name}: {by_line(losses(seen, source, wrappers))}")
    return contradictions


def by_line(sums: dict[int | None, Count]) -> str:
    return ", ".join(f"line {line or '?'}: {count}" for line, count in
                     sorted(sums.items(), key=lambda item: item[0] or 0)) or "nothing"


def excused(case: Case | None, engine: Engine, config: Config) -> bool:
    return case is not None and any(
        gap.aspect in EXCUSING for gap in case.gaps_for(engine.name, config.compiler, config.opt))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plumb", type=Path)
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--opt", default="-O0")
    parser.add_argument("--engines", default="run,memcheck")
    parser.add_argument("--build-dir", type=Path, default=Path("build/agree"))
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    config = Config(options.compiler, options.opt)
    source = options.file.resolve()
    try:
        case: Case | None = read_case(source)
    except CaseError:
        case = None  # a lit test without the annotations of a case
    except OSError as error:
        print(f"agree: error: {error}", file=sys.stderr)
        return 2
    truth = case.truth if case else Truth([])
    program = Program(source, tuple(case.flags) if case else (),
                      tuple(case.args) if case else (), config, options.build_dir.resolve())
    answers: dict[str, Observation] = {}
    try:
        for engine in make_engines(options.engines, options.plumb):
            if why := engine.unavailable():
                print(f"agree: {engine.name} left out: {why}", file=sys.stderr)
            elif not excused(case, engine, config):
                answers[engine.name] = engine.examine(program)
    except (BuildError, EngineError) as error:
        print(f"agree: error: {error}", file=sys.stderr)
        return 2
    if len(answers) < 2:
        print(f"agree: {len(answers)} engine to compare", file=sys.stderr)
        return 0
    contradictions = compare(answers, source, truth.wrappers)
    for text in contradictions:
        print(f"{source.name}: {text}")
    return 1 if contradictions else 0


if __name__ == "__main__":
    sys.exit(main())
