#!/usr/bin/env python3
"""Installs the package where there is no compiler, and does with it what its users do.

    package.py FOLDER PREVIOUS-FOLDER RELEASE     what `make package` made, and made of an earlier
                                                  version; a release of Debian

Containers with systemd run what a machine would run, in networks of their own. Prints a line for
each check, and exits with 1 if one fails.
"""

import glob
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from container import CACHE, Container, child, output, run, until
from sender import sending

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPERATING = ROOT / "Sources/Subledger/Subledger.docc/Operating.md"

failures = []


def check(sentence, holds, detail=""):
    """Prints whether a sentence is true, and all that is known if it is not."""
    detail = str(detail).strip()
    if holds:
        detail = detail.split("\n")[0][:120]
    print(f"{'ok    ' if holds else 'FAILED'} {sentence}" + (f": {detail}" if detail else ""),
          flush=True)
    if not holds:
        failures.append(sentence)


def measured(name, value):
    """Prints a size or a time."""
    print(f"size   {name}: {value / 1e6:.1f} MB" if isinstance(value, int)
          else f"time   {name}: {value:.1f} s", flush=True)


def block(heading, number):
    """Commands below a heading of the article Operating, by their number."""
    section = OPERATING.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return section.split("```\n")[2 * number + 1]


def package(folder, name="subledger"):
    return pathlib.Path(glob.glob(f"{folder}/{name}_*.deb")[0])


def files(folder):
    """What `make package` made is complete, clean, and of one build."""
    deb, symbols = package(folder), package(folder, "subledger-dbgsym")
    code, printed = run("sh", "-c", 'cd "$0" && sha256sum --check --strict SHA256SUMS', folder)
    check("the checksums match", code == 0 and printed.count(": OK") == 4, printed if code else "")
    code, printed = run("lintian", "--allow-root", "--fail-on=error,warning", deb, symbols)
    check("lintian finds neither errors nor warnings", code == 0, printed)
    with tempfile.TemporaryDirectory() as root:
        output("dpkg-deb", "-x", deb, root)
        output("dpkg-deb", "-x", symbols, root)
        program = f"{root}/usr/bin/subledger"
        identity = re.search(r"Build ID: (\w+)", output("readelf", "-n", program))[1]
        debug = f"{root}/usr/lib/debug/.build-id/{identity[:2]}/{identity[2:]}.debug"
        functions = re.findall(r"(?m)^(\w+) t \$s16SubledgerCommand", output("nm", debug))[:200]
        places = output("addr2line", "-e", debug, *functions).splitlines()
        named = [place for place in places if re.search(r"/\w+\.swift:[1-9]", place)]
        check("the symbols of this build name the lines of its functions",
              len(named) > 10, f"{len(named)} of {len(places)}, {named[:1]}")
        for unit in ["subledger.service", "subledger-checkpoint.service"]:
            code, printed = run(
                "systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager",
                f"{root}/usr/lib/systemd/system/{unit}",
            )
            exposure = re.search(r"exposure level for \S+: ([\d.]+)", printed)
            check(f"{unit} is exposed by at most 2.0 of 10", code == 0,
                  exposure[1] if exposure else printed)
        measured("program", os.path.getsize(program))
    for file in sorted(pathlib.Path(folder).glob("subledger*")):
        measured(file.name, file.stat().st_size)
    listed = json.loads(next(pathlib.Path(folder).glob("*.spdx.json")).read_text())
    names = {one["name"]: one for one in listed["packages"]}
    asked = re.findall(r'url: "\S+/([\w-]+)\.git"', (ROOT / "Package.swift").read_text())
    known = [name for name, one in names.items() if re.match(r"\d", one["versionInfo"])
             and one["licenseDeclared"] != "NOASSERTION"]
    check("the list of dependencies has the version and the licence of each",
          len(asked) > 10 and set(asked) - {"swift-docc-plugin"} <= set(known),
          f"{len(known)} packages")


def installed(container, deb):
    """A root without Swift gets the package by apt, and shows a store."""
    shutil.copy(deb, container.folder / "root/new.deb")
    container.once("apt-get", "update", "-qq")
    begin = time.monotonic()
    code, printed = container.once("apt-get", "install", "-y", "-qq", "/root/new.deb")
    check("apt installs the package and what it needs", code == 0, printed[-800:] if code else "")
    measured("apt install, with PostgreSQL", time.monotonic() - begin)
    tarball = next(pathlib.Path(deb).parent.glob("*.tar.gz"))
    output("tar", "-C", container.folder / "root", "-xzf", tarball)
    code, printed = container.once("sh", "-c", "/root/subledger-*/bin/subledger --version")
    check("the program of the tarball starts, too", code == 0, printed)
    code, printed = container.once("sh", "-c", "command -v swift; subledger --version")
    check("no Swift is there, and the program starts", re.fullmatch(r"[\d.]+\n", printed),
          printed.strip())
    told = output("dpkg-deb", "-f", deb, "Version").strip()
    check("the package has the version of the program", told.startswith(printed.strip()), told)
    _, printed = container.once("sh", "-c", "stat -c '%a %U:%G' /etc/subledger /etc/subledger/*")
    check("settings are readable by the service's group only",
          printed == "750 root:subledger\n640 root:subledger\n640 root:subledger\n", printed)
    script = """
        useradd --create-home tester; cd /home/tester
        as='setpriv --reuid tester --regid tester --clear-groups'
        $as subledger up --demo > link 2> log &
        for _ in $(seq 120); do [ -s link ] && break; sleep 1; done
        curl -sS -o /dev/null -c cookies "$(cat link)"
        curl -sS -b cookies http://127.0.0.1:8080/console | grep -c '<title>.*Subledger</title>'
        url=$(sed -n 's/.*--database-url "\\(.*\\)"/\\1/p' log)
        id=$($as subledger streams --database-url "$url" --json \\
            | sed 's/.*"originalTransactionId":"\\([0-9]*\\)".*/\\1/')
        for question in periods state history; do
            $as subledger $question "$id" --database-url "$url" > $question
            echo "$question $? $(grep -c . $question)"
        done
        kill -TERM %1; wait %1; echo "stopped $?"
    """
    begin = time.monotonic()
    _, printed = container.once("bash", "-c", script, network="own")
    measured("the demo, from its start to its end", time.monotonic() - begin)
    check("the console of `up --demo` answers", printed.startswith("1\n"), printed)
    check("three questions have answers",
          len(re.findall(r"^(periods|state|history) 0 [1-9]", printed, re.M)) == 3, printed)
    check("the demo ends when it is stopped", "stopped 0" in printed, printed.splitlines()[-1])


def started(container):
    """The service, set up as the article says, under systemd."""
    container.shell("""
        subledger simulate --subscriptions 200 --out /srv/store --quiet
        install -m 644 /srv/store/root.der /etc/subledger/root.der
    """)
    settings = '{"follow": true, "rootCertificate": ["/etc/subledger/root.der"]}'
    container.shell(f"echo '{settings}' > /etc/subledger/subledger.json")
    begin = time.monotonic()
    container.shell(block("Install", 0))
    measured("set-up, until the service is ready", time.monotonic() - begin)
    pid = container.shell("systemctl show --property MainPID --value subledger").strip()
    status = container.shell(f"cat /proc/{pid}/status; stat -c %U /proc/{pid}")
    check("the service is not root, and can never gain privileges",
          status.endswith("subledger\n") and "NoNewPrivs:\t1" in status
          and "CapBnd:\t0000000000000000" in status)
    code, printed = container("systemctl", "reload", "subledger")
    check("it reads its certificate and tokens again when it is asked to", code == 0, printed)
    code, printed = container("curl", "-sS", "http://127.0.0.1:8080/readyz")
    check("it is ready for notifications", code == 0 and '"append"' in printed, printed[:200])


def restarted(container):
    """Restarts while notifications arrive."""
    report, times = {}, []
    with sending(container, report):
        for _ in range(3):
            begin = time.monotonic()
            container.shell("systemctl restart subledger.service")
            times.append(time.monotonic() - begin)
    check("three restarts lose no request, and refuse none",
          report["accepted"] == report["lines"] and not report["faults"], report)
    measured("slowest restart", max(times))
    check("what was sent is in the log", nothing_lost(container))


def nothing_lost(container):
    """Whether every notification of the store is known."""
    printed = container.shell("""
        runuser -u subledger -- env DATABASE_URL='postgresql:///subledger?host=/run/postgresql' \\
            subledger ingest /srv/store/notification.ndjson \\
            --root-certificate /etc/subledger/root.der
    """)
    return "payloads: 0 facts appended" in printed


def checkpointed(container):
    """A signed checkpoint each day, outside of the database."""
    container.shell(block("Install", 1))
    container.shell("systemctl start subledger-checkpoint.service")
    printed = container.shell("""
        ls /var/lib/subledger/checkpoints/*.json
        stat -c '%U %a' /var/lib/subledger/checkpoints
        systemctl show --property NextElapseUSecRealtime --value subledger-checkpoint.timer
    """)
    check("a checkpoint is kept where only the service may look", "\nsubledger 750\n" in printed,
          printed)
    check("the next one has a time", bool(printed.strip().splitlines()[-1]))
    verify = """
        cat /var/lib/subledger/checkpoints/*.json > /tmp/kept.json
        runuser -u subledger -- env DATABASE_URL='postgresql:///subledger?host=/run/postgresql' \\
            subledger verify --against /tmp/kept.json --public-key /etc/subledger/checkpoint.pub
    """
    code, printed = container("sh", "-ec", verify)
    check("it matches the log", code == 0, printed if code else "")
    begin = time.monotonic()
    code, printed = container("sh", "-ec", block("Backups", 0))
    check("the drill of the article restores a backup and verifies it", code == 0, printed[-300:])
    measured("drill", time.monotonic() - begin)
    other = "cd /var/lib/subledger/checkpoints; sed -i 's/\"offset\":[0-9]*/\"offset\":1/' *\n"
    code, printed = container("sh", "-ec", other + verify)
    check("an edited one does not", code not in (0, 64), printed[-300:])


def exchanged(container, deb, verb):
    """Installs another version while notifications arrive."""
    shutil.copy(deb, container.folder / "root/other.deb")
    version = output("dpkg-deb", "-f", deb, "Version").strip()
    report = {}
    with sending(container, report):
        begin = time.monotonic()
        container.shell("apt-get install -y -qq --allow-downgrades /root/other.deb")
        if verb == "upgrade":
            container.shell(block("Upgrade", 0))
        measured(verb, time.monotonic() - begin)
    check(f"{verb}: every notification was accepted, those with a fault after they were sent again",
          report["accepted"] == report["lines"], report)
    check(f"{verb}: nothing is lost", nothing_lost(container))
    there = container.shell("dpkg-query --show --showformat='${Version}' subledger")
    pid = container.shell("systemctl show --property MainPID --value subledger").strip()
    running = container.shell(f"readlink /proc/{pid}/exe").strip()
    check(f"{verb}: the service runs the program of the package",
          there == version and running == "/usr/bin/subledger", f"{there}, {running}")
    kept = container.shell("cd /etc/subledger; cat subledger.json; stat -c '%a %U:%G' *.json")
    check(f"{verb}: edited settings are kept, and who may read them",
          "root.der" in kept and "640 root:subledger" in kept)


def imaged(container, folder):
    """The image, with a root that cannot be written, at the PostgreSQL of the container."""
    image, bundle = pathlib.Path(folder) / "image", container.folder.parent / "image"
    measured("image", sum(file.stat().st_size for file in image.rglob("*") if file.is_file()))
    output("umoci", "unpack", "--image", f"{image}:subledger", bundle)
    process = json.loads((bundle / "config.json").read_text())["process"]
    check("the image is for a user without privileges", process["user"]["uid"] != 0)
    container.shell("""
        runuser -u postgres -- psql -q -d subledger -c "CREATE ROLE image LOGIN PASSWORD 'image'" \
            -c 'GRANT ledger_writer, ledger_projector TO image' \
            -c 'GRANT CREATE ON DATABASE subledger TO image'
    """)
    variables = [*process["env"], "SUBLEDGER_SERVE_PORT=8090",
                 "DATABASE_URL=postgresql://image:image@127.0.0.1/subledger"]
    log = open(f"{bundle}.log", "w")
    started = subprocess.Popen(
        ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--pipe", "--read-only",
         "--user=subledger", f"--network-namespace-path=/proc/{container.leader}/ns/net",
         "--directory", bundle / "rootfs", *[f"--setenv={one}" for one in variables],
         *process["args"]],
        stdin=subprocess.DEVNULL, stdout=log, stderr=log,
    )
    leader = child(started)
    compose = (ROOT / ".packaging/compose.yaml").read_text()
    probe = re.search(r'test: (\["CMD", "bash".*?\])\n', compose, re.S)[1]
    probe = json.loads(re.sub(r"\n *", " ", probe))
    probe = [word.replace("8080", "8090") for word in probe[1:]]
    inside = ["nsenter", "--target", leader, "--mount", "--net", "--root", "--wd"]
    until(lambda: started.poll() is not None or run(*inside, *probe)[0] == 0)
    check("it becomes healthy, with a root that cannot be written",
          started.poll() is None and run(*inside, "touch", "/usr/x")[0] != 0,
          pathlib.Path(log.name).read_text()[-500:] if started.poll() is not None else "")
    code, _ = run(*inside, *[word.replace("8090", "8091") for word in probe])
    check("its health check finds a port without a service", code != 0)
    status = pathlib.Path(f"/proc/{leader}/status").read_text()
    check("it does not run as root", f"Uid:\t{process['user']['uid']}\t" in status)
    code, printed = container(
        "sh", "-c", "head -n 1 /srv/store/notification.ndjson | curl -sS --data-binary @- "
        "-o /dev/null -w '%{http_code}' http://127.0.0.1:8090/v1/appstore/notifications")
    # It trusts Apple only.
    check("it refuses what Apple did not sign", printed == "400", printed)
    os.kill(int(leader), signal.SIGTERM)
    check("it ends when it is stopped", started.wait(60) == 0)


def outdated(container):
    """A package that needs a migration leaves the service running."""
    running = "systemctl show --property MainPID --value subledger"
    before = container.shell(running)
    # A database without a ledger lacks every migration.
    container.shell("""
        runuser -u postgres -- createdb older
        sed -i.kept s,///subledger,///older, /etc/subledger/environment
    """)
    printed = container.shell("apt-get install -y -qq --reinstall /root/other.deb 2>&1")
    after = container.shell(running)
    code, _ = container("curl", "-fsS", "http://127.0.0.1:8080/livez")
    container.shell("mv /etc/subledger/environment.kept /etc/subledger/environment")
    check("with an older schema, the service goes on with the program that it has, and apt says so",
          before == after and code == 0 and "run 'subledger migrate'" in printed, printed[-300:])


def purged(container):
    """Nothing but data stays, and it is named."""
    printed = container.shell("apt-get purge -y -qq subledger 2>&1")
    check("purge names what it keeps",
          "kept /etc/subledger /var/lib/subledger and its user" in printed, printed[-300:])
    left = container.shell("""
        find / -xdev '(' -name '*subledger*' -o -user subledger ')' -not -path '/proc/*' \\
            -not -path '/var/log/*' -not -path '/var/cache/*' -not -path '/var/tmp/*' \\
            -not -path '/tmp/*' -not -path '/home/*' -not -path '/var/backups/*' \\
            -not -path '/root/*' -prune
    """).split()
    check("nothing else is left", sorted(left) == ["/etc/subledger", "/var/lib/subledger"], left)
    kept = container.shell("find /etc/subledger /var/lib/subledger -type f").split()
    check("what is left was made here", all(
        re.search(r"root\.der|checkpoint\.p(em|ub)|checkpoints/.*\.json", file) for file in kept
    ) and kept, kept)


def main():
    folder, previous, release = sys.argv[1:]
    place = CACHE / "package-test"
    shutil.rmtree(place, ignore_errors=True)
    files(folder)
    container = Container(release, place / release)
    installed(container, package(folder))
    shutil.copy(package(previous), container.folder / "root/other.deb")
    container.once("apt-get", "install", "-y", "-qq", "--allow-downgrades", "/root/other.deb")
    with container.booted():
        started(container)
        exchanged(container, package(folder), "upgrade")
        restarted(container)
        checkpointed(container)
        imaged(container, folder)
        outdated(container)
        exchanged(container, package(previous), "downgrade")
        purged(container)
    shutil.rmtree(place)
    sys.exit(f"{len(failures)} failed" if failures else 0)


if __name__ == "__main__":
    main()
