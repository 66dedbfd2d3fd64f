#!/usr/bin/env python3
"""Sends notifications as Apple does, until its stdin ends: sender.py ADDRESS FILE"""

import concurrent.futures
import contextlib
import http.client
import itertools
import json
import pathlib
import subprocess
import sys
import threading
import time

from container import SECONDS_MAX


def send(address, file):
    """Sends every line of a file, as Apple does: again, until it is answered with 200.

    The first half is spread over the time until stdin ends.
    """
    lines = pathlib.Path(file).read_bytes().splitlines()
    stopped, faults, answers = threading.Event(), [], []
    threading.Thread(target=lambda: (sys.stdin.read(), stopped.set()), daemon=True).start()
    pending = itertools.cycle(lines[:len(lines) // 2])

    def deliver(line):
        while True:
            try:
                connection = http.client.HTTPConnection(address, timeout=60)
                connection.request("POST", "/v1/appstore/notifications", line)
                status = connection.getresponse().status
                connection.close()
                if status == 200:
                    answers.append(line)
                    return
                faults.append(str(status))
            except OSError as error:
                faults.append(type(error).__name__)
            time.sleep(0.2)

    def work(lines):
        for line in lines:
            deliver(line)

    def until_stopped():
        while not stopped.is_set():
            deliver(next(pending))
            time.sleep(0.01)

    workers = 4
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for one in [pool.submit(until_stopped) for _ in range(workers)]:
            one.result()
        # All, so that none is missing.
        for one in [pool.submit(work, lines[index::workers]) for index in range(workers)]:
            one.result()
    print(json.dumps({
        "lines": len(lines), "accepted": len(set(answers)), "sent": len(answers) + len(faults),
        "faults": {name: faults.count(name) for name in sorted(set(faults))},
    }))


@contextlib.contextmanager
def sending(container, report):
    """Sends the notifications of the store meanwhile; the report receives how that went."""
    process = subprocess.Popen(
        ["nsenter", "--target", container.leader, "--net", sys.executable, "-B", __file__,
         "127.0.0.1:8080", container.folder / "srv/store/notification.ndjson"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )
    try:
        time.sleep(1)
        yield
    finally:
        printed, _ = process.communicate("", timeout=SECONDS_MAX)
        report.update(json.loads(printed))


if __name__ == "__main__":
    send(*sys.argv[1:])
