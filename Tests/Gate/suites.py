#!/usr/bin/env python3
"""Runs the tests that are built, a few test targets at once, and prints what took longest.

    suites.py [--filter PATTERN] [TARGET ...]

Each target runs in a separate process with a separate server, one test at a time, so that times are
measured for each test and no test waits for another. The output of the tests goes to
.build/tests/TARGET.log; of it, only failures are printed. Exits with 1 if a test failed or if
none ran.
"""

import argparse
import collections
import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import re
import signal
import sys

import stage

ROOT = stage.ROOT
LOGS = ROOT / ".build" / "tests"

# Their tests wait for clocks and answers much longer than they compute, so they run together.
WAITING = ["SubledgerAppStoreTests"]

# One more than processors, because a test and its server wait for each other.
AT_ONCE = int(os.environ.get("SUBLEDGER_TESTS_AT_ONCE", 0)) or (os.cpu_count() or 2) + 1

# How many tests, and how many suites, the tables list.
SLOWEST_MAX = 30

# How many lines are printed of a target that fails.
LINES_MAX = 60

# These start first, because they take longest.
LONG = ["SubledgerAppStoreTests", "SubledgerTests", "CommandTests", "EventLogTests",
        "ProjectionsTests", "SubledgerHTTPTests", "AppStoreTests", "CrashTests"]

# The longest are run in two halves, by the first letters of their suites, so that no processor waits
# for one at the end.
PARTS = {"CommandTests": ["[A-G]", "[H-Z]"], "SubledgerTests": ["[A-L]", "[M-Z]"]}

ENDING = re.compile(r'^\S+ Test (".*"|\w+\(.*?\)) (?:with \d+ test cases? )?(passed|failed|skipped)\b')
FAULT = re.compile(r"^✘|^↳|recorded an issue|Caught error|[Ff]atal error|error: ")

Result = collections.namedtuple("Result", "target code clock used tests counts")


def bundle():
    """The program that holds all tests."""
    found = sorted((ROOT / ".build" / "debug").glob("*PackageTests.xctest"))
    if len(found) != 1:
        sys.exit("suites.py: the tests are not built; run `make test`")
    return found[0]


def spans(events):
    """When each test ran: (test, begin, end)."""
    began, found = {}, []
    with open(events, encoding="utf-8", errors="replace") as file:
        for line in file:
            event = json.loads(line)["payload"]
            kind, test = event.get("kind"), event.get("testID")
            # The id of a suite has no slash.
            if not test or "/" not in test:
                continue
            if kind == "testStarted":
                began[test] = event["instant"]["since1970"]
            elif kind == "testEnded" and test in began:
                found.append((test, began.pop(test), event["instant"]["since1970"]))
    return found, list(began)


def costs(found, looks):
    """Of each test the clock's seconds and the processor time that was used while it ran."""
    rows, place = {}, 0
    used = collections.Counter()
    found = sorted(found, key=lambda span: span[1])
    for (start, before), (end, after) in zip(looks, looks[1:]):
        while place < len(found) and found[place][2] < start:
            place += 1
        parts, here = [], place
        while here < len(found) and found[here][1] <= end:
            test, begin, finish = found[here]
            parts.append((test, min(finish, end) - max(begin, start)))
            here += 1
        together = sum(part for _, part in parts)
        for test, part in parts:
            used[test] += max(after - before, 0) * (part / together if together > 0 else 0)
    for test, begin, finish in found:
        rows[test] = (finish - begin, used[test])
    return rows


def run(target, part, program, pattern):
    """Runs the tests of a target, or a part of them, in a process of its own."""
    name = f"{target} {part}".strip()
    log, events = LOGS / f"{name}.log", LOGS / f"{name}.events"
    events.unlink(missing_ok=True)
    command = [program, "--testing-library", "swift-testing",
               *([] if target in WAITING else ["--no-parallel"]),
               "--event-stream-output-path", str(events),
               "--filter", rf"^{target}\.{part}{pattern and f'.*{pattern}'}"]
    with open(log, "wb") as output:
        code, looks = stage.run(command, output)
    found, unended = spans(events) if events.exists() else ([], [])
    endings = {}
    for line in log.read_text(errors="replace").splitlines():
        if match := ENDING.match(line):
            endings[len(endings)] = match[2]
    counts = collections.Counter(endings.values())
    if unended:
        with open(log, "a", encoding="utf-8") as output:
            output.write("✘ begun and not ended: " + "; ".join(unended) + "\n")
    return Result(name, code, looks[-1][0] - looks[0][0], looks[-1][1], costs(found, looks), counts)


def report(result):
    """Prints how a target ended."""
    words = ", ".join(f"{result.counts[word]} {word}" for word in ["passed", "failed", "skipped"]
                      if result.counts[word]) or "no test"
    print(f"{result.target}: {words}; {result.clock:.0f} s by the clock,"
          f" {result.used:.0f} s of the processor", flush=True)
    # No tests match a filter: 69.
    if result.code not in (0, 69):
        log = LOGS / f"{result.target}.log"
        lines = [line for line in log.read_text(errors="replace").splitlines() if FAULT.search(line)]
        print(f"{result.target} ended with {result.code}; from {log.relative_to(ROOT)}:",
              *(lines or log.read_text(errors="replace").splitlines()[-20:])[:LINES_MAX],
              sep="\n", flush=True)


def print_slowest(title, rows):
    """Prints the rows with most processor time, as a table."""
    print(f"\n{title}\nprocessor    clock")
    for name, clock, used in sorted(rows, key=lambda row: -row[2])[:SLOWEST_MAX]:
        print(f"{used:7.1f} s {clock:6.1f} s  {name}")


def print_tests(results):
    """Prints which tests and which suites took most."""
    tests, suites = [], collections.defaultdict(lambda: [0.0, 0.0])
    for result in results:
        for test, (clock, used) in result.tests.items():
            suite, _, rest = test.partition("/")
            tests.append((f"{suite} {rest.rpartition('/')[0]}", clock, used))
            suites[suite][0] += clock
            suites[suite][1] += used
    print_slowest(f"The {SLOWEST_MAX} slowest tests", tests)
    print_slowest(f"The {SLOWEST_MAX} slowest suites", [(name, *row) for name, row in suites.items()])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", metavar="PATTERN", help="what follows TARGET.")
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    options = parser.parse_args()
    known = {path.name for folder in ("", "Example/Tests/")
             for path in (ROOT / "Tests").glob(f"{folder}*Tests")}
    targets = options.targets or [*LONG, *sorted(known - set(LONG))]
    if unknown := set(targets) - known:
        sys.exit(f"suites.py: no test target {', '.join(sorted(unknown))}")
    LOGS.mkdir(parents=True, exist_ok=True)
    program, results = str(bundle()), []
    # A process for each: it collects what its target leaves behind, and nothing of another.
    with concurrent.futures.ProcessPoolExecutor(
        AT_ONCE, mp_context=multiprocessing.get_context("spawn"), max_tasks_per_child=1
    ) as workers:
        work = [workers.submit(run, target, part, program, options.filter)
                for target in targets for part in PARTS.get(target, [""])]
        for done in concurrent.futures.as_completed(work):
            results.append(done.result())
            report(results[-1])
    print_tests(results)
    counts = sum((result.counts for result in results), collections.Counter())
    bad = [result.target for result in results if result.code not in (0, 69)]
    if bad:
        print(f"\nfailed: {', '.join(bad)}")
    print(f"\n{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    sys.exit(1 if bad or not counts["passed"] else 0)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    main()
