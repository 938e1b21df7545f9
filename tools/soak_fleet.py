#!/usr/bin/env python3
"""A fleet of watched processes seen by other people's engines: soak_fleet.py PLUMB.

Two programs that leak and one that does not, each under `plumb watch` with its
metrics on loopback, scraped by a real Prometheus server; their snapshots merged by
`plumb report`, exported and opened by `go tool pprof`. 77 when neither of the two
programs is installed.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
SOURCE = HERE / "tests" / "lit" / "Inputs" / "watch-growing.c"
SITE = "remember"
SECONDS = 60  # that anything may take


class Failure(Exception):
    pass


def wait_for(what: str, ask):
    """What `ask` answers, once it is something."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if answer := ask():
            return answer
        time.sleep(0.2)
    raise Failure(f"{what} did not come in {SECONDS} s")


def first_line(path: Path, start: str) -> str | None:
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line for line in lines if start in line), None)


class Watched:
    def __init__(self, plumb: str, folder: Path, number: int, program: Path):
        self.snapshot = folder / f"{number}.snapshot"
        self.process = subprocess.Popen(
            [plumb, "watch", "--epoch=20ms", "--sample=4k", "--interval=500ms",
             f"--snapshot-file={self.snapshot}", f"--output={folder}/{number}.txt", "--",
             str(program), "-"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        self.pid = wait_for("the program", lambda: children.read_text().split())[0]
        log = folder / f"{number}.metrics"
        wait_for("the snapshot", self.snapshot.exists)
        self.server = subprocess.Popen([plumb, "watch", "--metrics=0", self.pid],
                                       stdout=subprocess.DEVNULL, stderr=log.open("w"))
        line = wait_for("the metrics", lambda: first_line(log, "http://"))
        self.address = urllib.parse.urlparse(line[line.index("http://"):].split()[0]).netloc

    def end(self) -> None:
        self.process.stdin.close()  # the program's end
        self.process.wait(timeout=SECONDS)
        self.server.wait(timeout=SECONDS)  # by itself: there is nobody left to ask

    def kill(self) -> None:
        for process in (self.server, self.process):
            if process.poll() is None:
                process.kill()
                process.wait()
        try:
            os.kill(int(self.pid), 9)
        except OSError:
            pass


class Prometheus:
    def __init__(self, folder: Path, targets: list[str]):
        config = folder / "prometheus.yml"
        config.write_text(json.dumps({
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
            "scrape_configs": [{"job_name": "plumb", "static_configs": [{"targets": targets}]}]}))
        self.log = folder / "prometheus.log"
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/tsdb",
             "--web.listen-address=127.0.0.1:17397"],
            stdout=subprocess.DEVNULL, stderr=self.log.open("w"))

    def query(self, expression: str) -> list[dict]:
        address = "http://127.0.0.1:17397/api/v1/query?" + urllib.parse.urlencode(
            {"query": expression})
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:
                return json.load(answer)["data"]["result"]
        except OSError:
            return []

    def kill(self) -> None:
        self.process.terminate()
        self.process.wait()


def check_prometheus(folder: Path, fleet: list[Watched]) -> None:
    server = Prometheus(folder, [watched.address for watched in fleet])
    try:
        up = wait_for("the scrapes", lambda: len(server.query("up == 1")) == len(fleet))
        assert up
        leaky = {fleet[0].address, fleet[1].address}
        found = wait_for("both leaks", lambda: (
            rows := server.query("plumb_site_stale_bytes > 0")) and
            {row["metric"]["instance"] for row in rows} >= leaky and rows)
        sites = {row["metric"]["site"] for row in found}
        if {row["metric"]["instance"] for row in found} != leaky:
            raise Failure("the program that does not leak has a leak")
        total = server.query("sum by (site) (plumb_site_stale_bytes)")
        print(f"Prometheus: {len(fleet)} processes scraped, {len(sites)} site(s) of "
              f"{len(leaky)} processes, summed up by site: {len(total)} row(s)")
        if len(sites) != 1 or len(total) != 1:
            raise Failure(f"one site has several names: {sites}")
        wait_for("a growing heap", lambda: server.query("delta(plumb_heap_bytes[5s]) > 0"))
    finally:
        server.kill()


def check_pprof(plumb: str, folder: Path, fleet: list[Watched]) -> None:
    snapshots = [str(watched.snapshot) for watched in fleet]
    merged = subprocess.run([plumb, "report", "--format=json", *snapshots], capture_output=True,
                            text=True)
    leaks = json.loads(merged.stdout)["leaks"]
    if len(leaks) != 1:
        raise Failure(f"{len(leaks)} leaks in the merged report, not one")
    profile = folder / "merged.pb.gz"
    subprocess.run([plumb, "report", "--format=pprof", f"--output={profile}", *snapshots],
                   check=False)
    opened = subprocess.run(["go", "tool", "pprof", "-top", str(profile)], capture_output=True,
                            text=True, env={**os.environ, "HOME": str(folder)})
    line = next((line for line in opened.stdout.splitlines() if line.endswith(SITE)), None)
    if opened.returncode != 0 or line is None:
        raise Failure(f"go tool pprof does not show {SITE}: {opened.stdout}{opened.stderr}")
    print(f"go tool pprof: {' '.join(line.split())}; merged {leaks[0]['bytes']:,} bytes in "
          f"{leaks[0]['blocks']:,} blocks")


def main() -> int:
    plumb = str(Path(sys.argv[1]).resolve())
    has = {name: shutil.which(name) is not None for name in ("prometheus", "go")}
    if not any(has.values()):
        print("neither prometheus nor golang-go is installed: not run")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, flags in (("leaks", []), ("clean", ["-DCLEAN"])):
            subprocess.run(["cc", "-O1", "-g", "-fno-builtin", *flags, str(SOURCE), "-o",
                            str(folder / kind)], check=True)
        fleet: list[Watched] = []
        try:
            for number, kind in enumerate(("leaks", "leaks", "clean")):
                fleet.append(Watched(plumb, folder, number, folder / kind))
            if has["prometheus"]:
                check_prometheus(folder, fleet)
            for watched in fleet:
                watched.end()
            if has["go"]:
                check_pprof(plumb, folder, fleet)
        except (Failure, AssertionError, subprocess.SubprocessError) as problem:
            print(f"  problem: {problem}")
            return 1
        finally:
            for watched in fleet:
                watched.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main())
