#!/usr/bin/env python3
"""What the program is made of, and under which licences.

    contents.py VERSION SPDX-FILE DOC-FOLDER

Writes an SPDX list of the dependencies that SwiftPM resolved, and into the folder: `copyright` in
Debian's format, `NOTICE`, and the text of the Apache licence. Fails if it does not know a licence.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
CHECKOUTS = ROOT / ".build" / "checkouts"
RUNTIME = "Apache-2.0 WITH Swift-exception"

# How the licence of a dependency is recognised; the first that matches counts.
LICENCES = [
    (RUNTIME, r"Runtime Library Exception"),
    ("Apache-2.0", r"Apache License\s+Version 2\.0"),
]

# What dependencies contain that others wrote: the name, a file, the licence, and a pattern that the
# file must contain; a group in it is the version.
CONTAINED = [
    ("BoringSSL", "swift-crypto/Sources/CCryptoBoringSSL/hash.txt", "Apache-2.0",
     r"revision (\w+)"),
    ("BoringSSL", "swift-nio-ssl/Sources/CNIOBoringSSL/hash.txt", "Apache-2.0", r"revision (\w+)"),
    ("XKCP", "swift-crypto/Sources/CXKCP/FIPS202-opt64/SimpleFIPS202.c", "CC0-1.0",
     r"publicdomain/zero/1\.0"),
    ("zlib", "swift-nio-extras/Sources/CNIOExtrasZlib/include/nioextras-zlib.h", "Zlib",
     r"\n  version ([\d.]+)"),
    ("llhttp", "swift-nio/Sources/CNIOLLHTTP/LICENSE", "MIT", r"Permission is hereby granted"),
    ("SHA1", "swift-nio/Sources/CNIOSHA1/c_nio_sha1.c", "BSD-3-Clause", r"Neither the name of"),
]

# The system's libraries that the program uses, and their licences.
LINKED = {"libpq5": "PostgreSQL", "zlib1g": "Zlib"}


def run(*command):
    """What a program prints."""
    return subprocess.run(
        command, cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE
    ).stdout


def identifier(*words):
    """The name of a package in the list."""
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", "-".join(words))


def package(
    name, version, terms, location="NOASSERTION", notices="NOASSERTION", url=None, owner=()
):
    """A package of the list."""
    references = [{
        "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": url,
    }] if url else []
    return {
        "name": name, "SPDXID": identifier(*owner, name), "versionInfo": version,
        "downloadLocation": location, "filesAnalyzed": False, "licenseConcluded": terms,
        "licenseDeclared": terms, "copyrightText": notices, "externalRefs": references,
    }


def licence(folder):
    """The licence of a dependency."""
    words = next(iter(sorted(folder.glob("LICENSE*")))).read_text()
    for name, pattern in LICENCES:
        if re.search(pattern, words):
            return name
    sys.exit(f"contents.py: unknown licence in {folder}")


def notice(folder):
    """What a dependency asks to be passed on; nothing if it has no such file."""
    file = folder / "NOTICE.txt"
    return file.read_text() if file.exists() else ""


def resolved():
    """What SwiftPM resolved, and which depends on which."""
    pins = json.loads((ROOT / "Package.resolved").read_text())["pins"]
    revisions = {pin["identity"]: pin["state"]["revision"] for pin in pins}
    packages, relations = {}, set()

    def visit(node, parent):
        name, version = node["identity"], node["version"]
        relations.add((parent, "DEPENDS_ON", identifier(name)))
        if name not in packages:
            folder, url = pathlib.Path(node["path"]), node["url"].removesuffix(".git")
            held = re.findall(r"^Copyright.*\d{4}.*", notice(folder), re.M)
            packages[name] = package(
                name, version, licence(folder), f"git+{node['url']}@{revisions[name]}",
                "\n".join(held) or f"Copyright the authors of {name}",
                f"pkg:swift/{url.removeprefix('https://')}@{version}",
            )
        for inner in node["dependencies"]:
            visit(inner, identifier(name))

    tree = json.loads(run("swift", "package", "show-dependencies", "--format", "json"))
    for node in tree["dependencies"]:
        visit(node, identifier("subledger"))
    return [packages[name] for name in sorted(packages)], relations


def contained():
    """What dependencies, the compiler and the system bring."""
    packages, relations = [], set()
    for name, path, terms, pattern in CONTAINED:
        found = re.search(pattern, (CHECKOUTS / path).read_text())
        if not found:
            sys.exit(f"contents.py: {path} does not contain {pattern}")
        owner = path.split("/")[0]
        packages.append(package(
            name, found[1] if found.groups() else "NOASSERTION", terms,
            notices=f"Copyright the authors of {name}", owner=[owner],
        ))
        relations.add((identifier(owner), "CONTAINS", packages[-1]["SPDXID"]))
    swift = re.search(r"Swift version (\S+)", run("swift", "--version"))[1]
    program = identifier("subledger")
    for name, terms, holder in [
        ("swift-runtime", RUNTIME, "Apple Inc. and the Swift project authors"),
        ("swift-foundation-icu", "Unicode-3.0", "1991-2023 Unicode, Inc."),
    ]:
        packages.append(package(name, swift, terms, notices=f"Copyright {holder}"))
        relations.add((program, "STATIC_LINK", identifier(name)))
    for name, terms in LINKED.items():
        version = run("dpkg-query", "--show", "--showformat=${source:Upstream-Version}", name)
        packages.append(package(name, version, terms, url=f"pkg:deb/debian/{name}"))
        relations.add((program, "DYNAMIC_LINK", identifier(name)))
    return packages, relations


def indented(words):
    """A text as Debian's copyright has it."""
    lines = [line.rstrip() for line in words.strip().splitlines()]
    return "\n".join(f" {line}" if line.strip() else " ." for line in lines)


def copyright(packages, year):
    """Debian's copyright file."""
    common = "On Debian systems, the text is in /usr/share/common-licenses/"
    zlib, llhttp, sha1 = [(CHECKOUTS / one[1]).read_text() for one in CONTAINED[-3:]]
    texts = {
        "Apache-2.0": common + "Apache-2.0.",
        RUNTIME: common + "Apache-2.0.\n\nAs an exception, if you use this Software to compile your"
        " source code and\nportions of this Software are embedded into the binary product as a\n"
        "result, you may redistribute such product without providing attribution as\nwould "
        "otherwise be required by Sections 4(a), 4(b) and 4(d) of the License.",
        "CC0-1.0": common + "CC0-1.0.",
        "MIT": llhttp,
        "BSD-3-Clause": re.sub(
            r"(?m)^ \* ?", "", re.search(r" \* Copyright.*?(?= \*/)", sha1, re.S)[0]
        ),
        "Zlib": re.search(r"/\* (zlib\.h.*?)\n\n\n", zlib, re.S)[1],
        "Unicode-3.0": (ROOT / ".packaging" / "Unicode-3.0.txt").read_text(),
    }
    paragraphs = [
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
        "Upstream-Name: subledger",
        f"Files: *\nCopyright: {year} the authors of Subledger\nLicense: none-stated\n"
        " The authors have stated no licence.",
    ]
    for one in packages:
        held = one["copyrightText"].replace("\n", "\n ").replace("Copyright ", "")
        paragraphs.append(
            f"Files: {one['SPDXID'].removeprefix('SPDXRef-')}/*\nCopyright: {held}\n"
            f"License: {one['licenseDeclared'].replace(' WITH ', ' with ')}\n"
            f"Comment: statically linked: {one['name']} {one['versionInfo']}"
        )
    for name in sorted({one["licenseDeclared"] for one in packages}):
        paragraphs.append(f"License: {name.replace(' WITH ', ' with ')}\n{indented(texts[name])}")
    return "\n\n".join(paragraphs) + "\n"


def main():
    version, list_file, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    moment = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))
    dependencies, relations = resolved()
    others, more = contained()
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"subledger-{version}",
        "documentNamespace": f"https://subledger.invalid/spdx/subledger-{version}",
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", moment),
            "creators": ["Tool: contents.py"],
        },
        "packages": [package("subledger", version, "NOASSERTION"), *dependencies, *others],
        "relationships": [
            {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
            for one, kind, other in [
                ("SPDXRef-DOCUMENT", "DESCRIBES", identifier("subledger")),
                *sorted(relations | more),
            ]
        ],
    }
    list_file.write_text(json.dumps(document, indent=2) + "\n")
    linked = [one for one in dependencies + others if one["name"] not in LINKED]
    (folder / "copyright").write_text(copyright(linked, time.strftime("%Y", moment)))
    notices = [(one["name"], notice(CHECKOUTS / one["name"])) for one in dependencies]
    (folder / "NOTICE").write_text("\n".join(
        f"===== {name}\n{words.strip()}\n" for name, words in notices if words
    ))
    shutil.copy(CHECKOUTS / "swift-nio" / "LICENSE.txt", folder / "Apache-2.0.txt")


if __name__ == "__main__":
    main()
