#!/usr/bin/env python3
"""Runs the commands that the docs show and compares their output.

usage: check_docs.py PLUMB [--update] [FILE...]

In a block marked ```console, a line `$ COMMAND` is run in a shell and what
follows must be its output, standard error included. A line `...` stands for
any lines. The blocks of one file share one folder, which begins as a copy of
examples/. A block that cannot be run here is preceded by

    <!-- not run: WHY -->

Links to files of the repository are checked, too. --update rewrites the output
in place: read the difference before you commit it.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOT_RUN = re.compile(r"<!-- not run: .+ -->")
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(#[^)\s]*)?\)")
COMMAND_SECONDS = 120


@dataclass
class Command:
    text: str
    line: int
    expected: list[str] = field(default_factory=list)


@dataclass
class Block:
    start: int  # index of the first line inside the fence
    end: int  # index of the closing fence
    commands: list[Command] = field(default_factory=list)


def parse_blocks(lines: list[str]) -> list[Block]:
    blocks, at = [], 0
    while at < len(lines):
        if lines[at].strip() != "```console":
            at += 1
            continue
        end = next(i for i in range(at + 1, len(lines)) if lines[i].strip() == "```")
        before = next((l for l in reversed(lines[:at]) if l.strip()), "")
        if not NOT_RUN.search(before):
            block = Block(at + 1, end)
            for i in range(at + 1, end):
                if lines[i].startswith("$ "):
                    block.commands.append(Command(lines[i][2:], i + 1))
                elif block.commands:
                    block.commands[-1].expected.append(lines[i])
            blocks.append(block)
        at = end + 1
    return blocks


def run(command: str, folder: Path, plumb: Path) -> list[str]:
    env = {
        "PATH": f"{plumb.parent}:{os.environ['PATH']}",
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "COLUMNS": "80",
        "TERM": "dumb",
    }
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=env, text=True, errors="replace",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=COMMAND_SECONDS,
    )
    text = done.stdout.replace(str(folder), "/home/you/demo")
    return text.rstrip("\n").split("\n") if text.strip() else []


def matches(expected: list[str], actual: list[str]) -> bool:
    if not expected:
        return not actual
    if expected[0].strip() == "...":
        return any(matches(expected[1:], actual[i:]) for i in range(len(actual) + 1))
    return bool(actual) and expected[0].rstrip() == actual[0].rstrip() and matches(expected[1:], actual[1:])


def strip_blank_end(lines: list[str]) -> list[str]:
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines


def check_commands(path: Path, plumb: Path, update: bool) -> list[str]:
    lines = path.read_text().split("\n")
    blocks = parse_blocks(lines)
    if not any(block.commands for block in blocks):
        return []
    problems = []
    with tempfile.TemporaryDirectory(prefix="plumb-docs-") as temporary:
        folder = Path(temporary) / "demo"
        shutil.copytree(ROOT / "examples", folder)
        rewritten: dict[int, list[str]] = {}
        for number, block in enumerate(blocks):
            output = []
            for command in block.commands:
                actual = run(command.text, folder, plumb)
                expected = strip_blank_end(command.expected)
                right = matches(expected, actual)
                output += [f"$ {command.text}", *(expected if right else actual)]
                if not right and not update:
                    problems.append(
                        f"{path.relative_to(ROOT)}:{command.line}: `{command.text}` printed\n"
                        + "".join(f"    {line}\n" for line in actual)
                        + "  but the page shows\n"
                        + "".join(f"    {line}\n" for line in expected)
                    )
            rewritten[number] = output
        if update:
            for number in reversed(range(len(blocks))):
                if blocks[number].commands:
                    lines[blocks[number].start : blocks[number].end] = rewritten[number]
            path.write_text("\n".join(lines))
    return problems


def check_links(path: Path) -> list[str]:
    problems = []
    for number, line in enumerate(path.read_text().split("\n"), 1):
        for target, _ in LINK.findall(line):
            if "://" in target or target.startswith("mailto:"):
                continue
            if not (path.parent / target).exists():
                problems.append(f"{path.relative_to(ROOT)}:{number}: no file {target}")
    return problems


def main() -> int:
    arguments = [a for a in sys.argv[1:] if a != "--update"]
    update = "--update" in sys.argv
    plumb = Path(arguments[0]).resolve()
    if not plumb.exists():
        print(f"check_docs: no {arguments[0]}\n  remedy: ./dev build", file=sys.stderr)
        return 2
    pages = [Path(a).resolve() for a in arguments[1:]] or [
        *sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").glob("*.md"))
    ]
    problems, commands = [], 0
    for page in pages:
        commands += sum(len(b.commands) for b in parse_blocks(page.read_text().split("\n")))
        problems += check_links(page) + check_commands(page, plumb, update)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"docs: {len(pages)} pages, {commands} commands run, {len(problems)} problems", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
