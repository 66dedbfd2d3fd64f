#!/usr/bin/env python3
"""Runs one stage of a gate, and prints what it cost.

    stage.py NAME -- COMMAND [ARGUMENT ...]
    stage.py --table

Prints the elapsed time and the processor time of all processes of the stage, including the servers
that tests start, and adds both to .build/stages.tsv; `--table` prints that file.
"""

import collections
import ctypes
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
STAGES = ROOT / ".build" / "stages.tsv"

# The interval between two looks at the processes; a shorter one would cost more than it shows.
LOOK_SECONDS = 0.3

# Linux only: makes orphaned processes children of this one, so that all are counted.
PR_SET_CHILD_SUBREAPER = 36


def living_seconds():
    """The processor time of the processes below this one, and of those that ended below them."""
    if not os.path.exists("/proc/self/stat"):
        return 0.0
    children, ticks = collections.defaultdict(list), {}
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            with open(f"/proc/{entry.name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        children[int(fields[1])].append(int(entry.name))
        ticks[int(entry.name)] = sum(map(int, fields[11:15]))
    found, total = list(children[os.getpid()]), 0
    while found:
        pid = found.pop()
        total += ticks[pid]
        found += children[pid]
    return total / os.sysconf("SC_CLK_TCK")


def ended_seconds():
    """The processor time of the children whose end this process waited for."""
    used = os.times()
    return used.children_user + used.children_system


def reap(pid):
    """Waits for all children that ended; returns the exit code of that one if it is among them."""
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return None
        if ended == 0:
            return None
        if ended == pid:
            return os.waitstatus_to_exitcode(status)


def run(command, output=None):
    """Runs a command to its end; returns its exit code, and looks: (instant, processor time)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output,
        stderr=subprocess.STDOUT if output else None,
    )
    looks, code = [(time.time(), 0.0)], None
    while code is None:
        time.sleep(LOOK_SECONDS)
        code = reap(process.pid)
        looks.append((time.time(), living_seconds() + ended_seconds()))
    process.returncode = code
    return code, looks


def print_table():
    """Prints what the stages took."""
    rows = [line.split("\t") for line in STAGES.read_text().splitlines()]
    rows = [(name, float(clock), float(used)) for name, clock, used in rows]
    rows.append(("together", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    print(f"\n{'stage':<10} {'clock':>8} {'processor':>10}")
    for name, clock, used in rows:
        print(f"{name:<10} {clock:>6.0f} s {used:>8.0f} s")


def main():
    if sys.argv[1:] == ["--table"]:
        return print_table()
    if len(sys.argv) < 4 or sys.argv[2] != "--":
        sys.exit(__doc__)
    name, command = sys.argv[1], sys.argv[3:]
    code, looks = run(command)
    clock, used = looks[-1][0] - looks[0][0], looks[-1][1]
    STAGES.parent.mkdir(parents=True, exist_ok=True)
    with open(STAGES, "a", encoding="utf-8") as file:
        file.write(f"{name}\t{clock:.1f}\t{used:.1f}\n")
    print(f"\n{name}: {clock:.0f} s by the clock, {used:.0f} s of the processor", flush=True)
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
