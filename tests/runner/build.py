"""Compiles a program for a configuration, once.

A configuration is a compiler and an optimisation level; an engine may add
flags (a sanitizer, an older debug format). The result is kept in the build
folder and reused while it is newer than the source and the corpus' header.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

CXX = {"gcc": "g++", "clang": "clang++"}
COMPILE_TIMEOUT = 120


class BuildError(Exception):
    pass


@dataclass(frozen=True)
class Config:
    compiler: str  # "gcc", "gcc-12", "clang-19"
    opt: str       # "-O0"

    def __str__(self) -> str:
        return f"{self.compiler} {self.opt}"

    @property
    def optimised(self) -> bool:
        return self.opt != "-O0"

    def driver(self, is_cxx: bool) -> str:
        family, dash, version = self.compiler.partition("-")
        return CXX.get(family, family) + dash + version if is_cxx else self.compiler


def configs(compilers: str, opts: str) -> list[Config]:
    """The product of two comma-separated lists; a missing compiler is an error."""
    result = [Config(c, o) for c in compilers.split(",") for o in opts.split(",")]
    for config in result:
        for is_cxx in (False, True):
            if not shutil.which(config.driver(is_cxx)):
                raise BuildError(f"compiler {config.driver(is_cxx)} is not installed")
    return result


def newest(paths: list[Path]) -> float:
    return max((path.stat().st_mtime for path in paths if path.exists()), default=0.0)


def standard(source: Path) -> str:
    return "-std=c++17" if source.suffix == ".cc" else "-std=gnu11"


def compile_program(source: Path, config: Config, flags: tuple[str, ...], folder: Path,
                    extra: tuple[str, ...] = (), plumb: Path | None = None) -> Path:
    """`flags` are the program's own, `extra` the engine's; both are in the result's name.

    With `plumb` the compiler is `plumb cc`, and what it is made of counts as a source.
    """
    tag = "".join(extra).replace("/", "_") or ("plumb" if plumb else "plain")
    binary = folder / f"{config.compiler}{config.opt}{tag}" / source.stem
    header = source.parent / "case.h"
    parts = sorted((plumb.parent.parent / "lib/plumb").glob("*.so")) if plumb else []
    if binary.exists() and binary.stat().st_mtime > newest([source, header, *parts]):
        return binary
    binary.parent.mkdir(parents=True, exist_ok=True)
    is_cxx = source.suffix == ".cc"
    driver = [str(plumb), "c++" if is_cxx else "cc"] if plumb else [config.driver(is_cxx)]
    command = [*driver, standard(source), "-g", config.opt,
               "-Wall", "-Wextra", *extra, *flags, str(source), "-o", f"{binary}.new"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_TIMEOUT)
    if done.returncode != 0:
        raise BuildError(f"{' '.join(command)}\n{done.stderr.strip()}")
    if done.stderr.strip():
        raise BuildError(f"{' '.join(command)}: warnings\n{done.stderr.strip()}")
    Path(f"{binary}.new").rename(binary)
    return binary
