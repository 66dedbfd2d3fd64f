#!/usr/bin/env python3
"""Runs a command in a copy of the sources that is kept, with what was built there before.

    build-cache.py FOLDER COMMAND [ARGUMENT ...]

The copy is a folder below FOLDER, named by the compiler, the flags and the dependencies that
Package.swift asks for. Only files whose bytes differ are written, so that SwiftPM builds again
what changed and what depends on it, as on a laptop; it resolves the dependencies each time. Copies
of other compilers or flags are removed once nothing was built there for a week. If another run
uses the copy, the command runs in the sources themselves.
"""

import contextlib
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What a build makes; none of it is a source.
MADE = {".git", ".build", ".subledger", "Package.resolved"}

WEEK = 7 * 24 * 3600


def key():
    """The name of the copy."""
    compiler = subprocess.run(["swift", "--version"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=True).stdout.decode()
    flags = [os.environ.get(name, "") for name in ("SUBLEDGER_OPTIMISED", "SWIFT_FLAGS")]
    asked = re.findall(r'"https://[^)]*', (ROOT / "Package.swift").read_text())
    return hashlib.sha256("\n".join([compiler, *flags, *asked]).encode()).hexdigest()[:16]


def sources(folder):
    """The files and links below a folder, by their paths in it."""
    found = {}
    for place, folders, names in os.walk(folder):
        if place == str(folder):
            folders[:] = [name for name in folders if name not in MADE]
            names = [name for name in names if name not in MADE]
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            path = pathlib.Path(place, name)
            found[path.relative_to(folder)] = path
    return found


def copy(copied):
    """Makes a folder hold the sources, and writes only what differs."""
    wanted, there = sources(ROOT), sources(copied)
    for name in there.keys() - wanted.keys():
        there[name].unlink()
        with contextlib.suppress(OSError):
            os.removedirs(there[name].parent)
    for name, path in wanted.items():
        target, mode = copied / name, path.stat().st_mode & 0o777
        if name not in there or target.read_bytes() != path.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
        if target.stat().st_mode & 0o777 != mode:
            target.chmod(mode)
    (copied / "Package.resolved").unlink(missing_ok=True)


def main():
    cache, command = pathlib.Path(sys.argv[1]).absolute(), sys.argv[2:]
    copied = cache / key()
    copied.mkdir(parents=True, exist_ok=True)
    # Closed when this process and the command have ended; a server that was left does not hold it.
    lock = os.open(cache / f"{copied.name}.lock", os.O_CREAT | os.O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        print(f"another run builds in {copied}: this one builds in {ROOT}", flush=True)
        sys.exit(subprocess.run(command, cwd=ROOT).returncode)
    for other in cache.iterdir():
        is_old = other.stat().st_mtime < time.time() - WEEK
        if is_old and other != copied and other.is_dir() and not other.is_symlink():
            shutil.rmtree(other, ignore_errors=True)
    os.utime(copied)
    copy(copied)
    # Real payloads may stand beside the project.
    beside, link = ROOT.parent / "shared", cache / "shared"
    if beside.is_dir() and not link.is_symlink():
        link.symlink_to(beside)
    print(f"building in {copied}", flush=True)
    sys.exit(subprocess.run(command, cwd=copied).returncode)


if __name__ == "__main__":
    main()
