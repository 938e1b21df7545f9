"""Programs built natively and by `plumb cc -fplumb=sampled`, each in several layouts.

Where functions lie moves results by several percent, whatever was changed in them.
So each program is compiled once per compiler, a section per function, and linked
several times by lld with these sections in another order. Cold code stays apart
from hot code (-z keep-text-section-prefix), as GNU ld has it by itself.
"""

import shutil
import subprocess
from pathlib import Path

import measure
from compiled import Bench
from compiled_programs import PROGRAMS, Program, filled
from packages import KEEP

COMPILE = ["-O2", "-g", "-ffunction-sections", "-w"]
# The server: glibc's malloc, no TLS, nothing of systemd.
SERVER = Program("redis", make=["make", "-C", "src", "redis-server", "MALLOC=libc", "BUILD_TLS=no",
                                "USE_SYSTEMD=no", "V=1", "OPTIMIZATION=-O2"],
                 binary="src/redis-server")


def link_flags(layout: int) -> list[str]:
    return ["-fuse-ld=lld", "-Wl,-z,keep-text-section-prefix", f"-Wl,--shuffle-sections=.text*={layout + 1}"]


def checked(command: list[str]) -> None:
    done = measure.run(command)
    if done.status != 0:
        raise RuntimeError(f"{' '.join(command[:4])} ...: {done.stderr.decode(errors='replace')[-600:]}")


class Layouts:
    """`work` is kept between runs; what another plumb built is built again."""

    def __init__(self, plumb: str, work: Path):
        self.bench = Bench(plumb, work)
        self.plumb = plumb
        plugin = Path(plumb).parent.parent / "lib" / "plumb" / "libplumb_sampled_pass.so"
        self.version = f"sampled-{plugin.stat().st_mtime_ns:x}"

    def program(self, name: str) -> Program:
        return SERVER if name == "redis" else PROGRAMS[name]

    def binary(self, name: str, traced: bool, layout: int) -> Path:
        program = self.program(name)
        kind = self.version if traced else "native"
        label = name.replace(", ", "-").replace(" ", "")
        out = self.bench.work / f"{label}-{kind}-{layout}"
        if not out.exists():
            cxx = program.language == "C++"
            compiler = [f"{self.plumb}-{'c++' if cxx else 'cc'}", "-fplumb=sampled"] if traced \
                else ["clang++-19" if cxx else "clang-19"]
            objects = self.bench.work / f"{label}-{kind}"
            if program.make:
                self._make(program, compiler, objects, layout, out)
            else:
                self._link(program, compiler, objects, layout, out)
        return out

    def _link(self, program: Program, compiler: list[str], objects: Path, layout: int,
              out: Path) -> None:
        source = self.bench.source(program)
        flags = [flag.format(source=source) for flag in program.flags]
        files = [p for pattern in program.files for p in sorted(source.glob(pattern))
                 if str(p.relative_to(source)) not in program.without]
        if not objects.exists():
            partial = objects.with_name(objects.name + ".new")
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir(parents=True)
            for file in files:
                checked([*compiler, *COMPILE, *(f for f in flags if not f.startswith(("-l", "-Wl"))),
                         "-c", str(file), "-o", str(partial / f"{file.stem}.o")])
            partial.rename(objects)
        checked([*compiler, *map(str, sorted(objects.glob("*.o"))), "-o", str(out),
                 *link_flags(layout), *flags])

    def _make(self, program: Program, compiler: list[str], tree: Path, layout: int,
              out: Path) -> None:
        """The tree is made once; another layout is only linked again."""
        if not tree.exists():
            shutil.copytree(self.bench.source(program), tree, symlinks=True)
        (tree / program.binary).unlink(missing_ok=True)
        more = ["-I/usr/include/liblzf"] if program is SERVER else []
        last = ["-llzf", "-latomic"] if program is SERVER else []
        checked(["make", "-C", str(tree), *program.make[1:], f"CC={' '.join(compiler)}",
                 f"CFLAGS={' '.join([*COMPILE, *more])}",
                 f"LDFLAGS={' '.join([*link_flags(layout), *last])}", *KEEP])
        shutil.copy(tree / program.binary, out)

    def arguments(self, name: str) -> list[str]:
        program = self.program(name)
        words = {"folder": self.bench.work,
                 "source": self.bench.work / f"prepared-{program.package}"}
        return [filled(word, words) for word in program.arguments]

    def stdin(self, name: str) -> Path | None:
        program = self.program(name)
        return self.bench.work / program.stdin if program.stdin else None


def code_size(binary: Path) -> tuple[int, int]:
    """Hot and cold bytes: the tracing versions have symbols of their own."""
    text = subprocess.run(["nm", "--print-size", str(binary)], capture_output=True, text=True,
                          check=True).stdout
    hot = cold = 0
    for line in text.splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tTwW":
            if ".plumb_traced" in words[3]:
                cold += int(words[1], 16)
            else:
                hot += int(words[1], 16)
    return hot, cold
