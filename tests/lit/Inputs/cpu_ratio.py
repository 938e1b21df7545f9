# cpu_ratio.py MOST NATIVE -- COMMAND...: succeeds when the command takes at most so
# many times the CPU time of the other one, as the better of three tries has it.
import os
import subprocess
import sys


def cpu(command: list[str]) -> float:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command[0]} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


split = sys.argv.index("--")
ratios = []
for _ in range(3):
    ratios.append(cpu(sys.argv[split + 1:]) / cpu(sys.argv[2:split]))
    if ratios[-1] <= float(sys.argv[1]):
        sys.exit(0)
sys.exit(f"took {min(ratios):.2f} times as long")
