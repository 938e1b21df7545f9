"""Ends a served program through plumb, with SIGTERM."""

import signal
import subprocess
import sys
import time
from pathlib import Path

plumb, program = sys.argv[1:]
served = subprocess.Popen([plumb, "watch", "--serve", "--output=/dev/null", "--", program, "-"],
                          stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
children = Path(f"/proc/{served.pid}/task/{served.pid}/children")
for _ in range(600):
    pid = children.read_text().strip()
    if pid and Path(f"/proc/{pid}/exe").resolve() == Path(program).resolve():
        break
    time.sleep(0.1)
served.send_signal(signal.SIGTERM)
print("ended by signal", -served.wait(timeout=60), flush=True)
