"""Starts a program under plumb watch, asks it once, and waits for its end."""

import subprocess
import sys
import time

plumb, program = sys.argv[1:]
watched = subprocess.Popen([plumb, "watch", "--quiet", "--epoch=5ms", "--sample=4k",
                            "--output=/dev/null", "--", program, "3"],
                           stdout=subprocess.DEVNULL)
time.sleep(1)
for _ in range(100):
    children = subprocess.run(["pgrep", "-P", str(watched.pid)], capture_output=True, text=True)
    pid = children.stdout.strip()
    asked = subprocess.run([plumb, "watch", "--snapshot", pid or "0"], capture_output=True, text=True)
    if "leak[" in asked.stdout:
        break
    time.sleep(0.1)
print(asked.stdout, asked.stderr, f"status {asked.returncode}", sep="\n")
print(f"status {watched.wait()}")
