"""A machine with Debian, in a folder: systemd-nspawn runs one command in it, or boots it."""

import contextlib
import os
import pathlib
import re
import shlex
import subprocess
import time

CACHE = pathlib.Path("/var/cache/subledger")

# A command that takes longer hangs.
SECONDS_MAX = 900


def run(*command, text=None):
    """Runs a command; returns its exit code and all that it printed."""
    ended = subprocess.run(
        command, input=text, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=SECONDS_MAX,
    )
    return ended.returncode, ended.stdout


def output(*command):
    """What a command printed, which must succeed."""
    code, printed = run(*command)
    if code != 0:
        raise OSError(f"{shlex.join(map(str, command))}: exit {code}\n{printed}")
    return printed


class Container:
    """A root of Debian in a folder; it runs one command, or boots."""

    def __init__(self, release, folder):
        self.folder = pathlib.Path(folder)
        base = CACHE / f"debian-{release}.tar"
        if not base.exists():
            output(
                "mmdebstrap", "--variant=minbase", "--format=tar",
                "--include=systemd,systemd-sysv,dbus,curl,openssl",
                release, f"{base}.part",
            )
            os.rename(f"{base}.part", base)
        denial = CACHE / "no-services"
        denial.write_text("#!/bin/sh\nexit 101\n")
        denial.chmod(0o755)
        self.folder.mkdir(parents=True)
        output("tar", "-C", self.folder, "--exclude=./dev/*", "-xf", base)
        self.leader = None

    def once(self, *command, network="host"):
        """Runs a command without systemd; returns its exit code and what it printed."""
        isolated = ["--private-network"] if network == "own" else ["--resolv-conf=copy-host"]
        # Its services would use the network of this machine.
        idle = f"--bind-ro={CACHE}/no-services:/usr/sbin/policy-rc.d"
        code, printed = run(
            "systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--pipe", idle, *isolated,
            "--directory", self.folder, "--setenv=DEBIAN_FRONTEND=noninteractive", *command,
        )
        return code, re.sub(r"Attempted to remove disk file system.*\n", "", printed)

    @contextlib.contextmanager
    def booted(self):
        """Starts systemd, in a network of its own, and stops it at the end."""
        log = open(f"{self.folder}.log", "w")
        process = subprocess.Popen(
            ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--private-network",
             "--console=read-only", "--boot", "--directory", self.folder],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )
        try:
            self.leader = child(process)
            until(lambda: self("systemctl", "is-system-running", "--wait")[0] in (0, 1) and
                  self("systemctl", "is-active", "multi-user.target")[0] == 0)
            yield self
        finally:
            self("systemctl", "poweroff")
            process.wait(60)
            self.leader = None

    def enter(self, *command):
        """The command that runs another one in the container."""
        return ["nsenter", "--target", self.leader, "--mount", "--uts", "--ipc", "--net", "--pid",
                "--cgroup", "--root", "--wd", "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8", *command]

    def __call__(self, *command, text=None):
        """Runs a command in it; returns its exit code and what it printed."""
        return run(*self.enter(*command), text=text)

    def shell(self, script):
        """What a script printed, which must succeed."""
        return output(*self.enter("sh", "-ec", script))


def child(process):
    """The first process of a container, by the nspawn that started it."""
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None:
        for one in children.read_text().split():
            status = pathlib.Path(f"/proc/{one}/status")
            # Another child only prepares the container.
            if status.exists() and re.search(r"^NSpid:.*\t1$", status.read_text(), re.M):
                return one
        time.sleep(0.1)
    raise OSError("the container ended")


def until(holds):
    """Waits for a condition."""
    for _ in range(120):
        if holds():
            return
        time.sleep(1)
    raise OSError("what was waited for did not happen")
