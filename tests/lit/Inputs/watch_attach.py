"""Starts a program under plumb watch, asks it until it says something, and ends it."""

import subprocess
import sys
import time
from pathlib import Path

plumb, program = sys.argv[1:]
watched = subprocess.Popen([plumb, "watch", "--quiet", "--epoch=5ms", "--sample=4k",
                            "--output=/dev/null", "--", program, "-"],
                           stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
for _ in range(600):
    time.sleep(0.1)
    pid = Path(f"/proc/{watched.pid}/task/{watched.pid}/children").read_text().strip()
    asked = subprocess.run([plumb, "watch", "--snapshot", pid or "0"], capture_output=True, text=True)
    if "leak[" in asked.stdout:
        break
print(asked.stdout, asked.stderr, f"status {asked.returncode}", sep="\n")
watched.stdin.close()  # ends the program
print(f"status {watched.wait()}")
