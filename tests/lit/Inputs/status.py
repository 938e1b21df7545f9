# status.py N COMMAND...: succeeds when the command ends with status N, which is
# negative for a signal.
import subprocess
import sys

done = subprocess.run(sys.argv[2:])
if done.returncode != int(sys.argv[1]):
    sys.exit(f"ended with {done.returncode}, expected {sys.argv[1]}")
