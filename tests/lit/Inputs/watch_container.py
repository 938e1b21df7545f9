# watch_container.py PLUMB PROGRAM SNAPSHOT: the program in a memory cgroup of 64 MB, alone
# and watched. It must do the same, also when it is killed for want of memory; the
# snapshot is left then. Where no such group can be made, there is nothing to see.
import os
import subprocess
import sys
from pathlib import Path

LIMIT = 64 << 20


def make_group() -> Path | None:
    name = f"plumb-test-{os.getpid()}"
    for base, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
                        ("/sys/fs/cgroup", "memory.max")):
        group = Path(base) / name
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / limit).write_text(str(LIMIT))
            return group
        except OSError:
            group.rmdir()
    return None


def run(command: list[str]) -> tuple[int, bytes]:
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=120)
    return done.returncode, done.stdout


def main() -> None:
    plumb, program, snapshot = sys.argv[1:]
    group = make_group()
    if group is None:
        print("no memory cgroup can be made here")
        return
    try:
        watched = [plumb, "watch", "--quiet", "--sample=16k", "--interval=200ms",
                   f"--snapshot-file={snapshot}", f"--output={snapshot}.txt", "--"]
        for how in ("within", "beyond"):
            Path(snapshot).unlink(missing_ok=True)
            command = [program, how, str(group / "cgroup.procs")]
            status, text = run(command)
            expected = 128 - status if status < 0 else status
            seen, seen_text = run([*watched, *command])
            # By the signal, or by its status.
            if seen not in (status, expected) or seen_text != text:
                sys.exit(f"{how}: {seen} {seen_text!r}, alone {status} {text!r}")
            if not Path(snapshot).exists():
                sys.exit(f"{how}: no snapshot")
        done = subprocess.run([plumb, "report", snapshot], capture_output=True)
        if done.returncode not in (0, 1):
            sys.exit(done.stderr.decode())
    finally:
        group.rmdir()


main()
