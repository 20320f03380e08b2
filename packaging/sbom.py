# SPDX-License-Identifier: Apache-2.0
"""make sbom: what is in an installation, as an SPDX 2.3 document in JSON.

    sbom.py BUILD_FOLDER OUTPUT_FILE

Lists Millrace, each file that it installs with its checksum, what of others is inside (LLVM, in the code generator; two
tables of numbers), and the packages of Debian's whose libraries the files need when they run. The same build gives the
same document: its time is SOURCE_DATE_EPOCH, or the last commit's.
"""
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from deb import source_time
from wheel import SYSTEM, find_library, installed, is_elf, needed, package_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
INSIDE = {"LLVM": ("llvm-19-dev", "Apache-2.0 WITH LLVM-exception", "in libmillrace-compile.so"),
          "MTGP32 parameters": (None, "BSD-3-Clause", "in libcurand; Saito, Matsumoto, Hiroshima University, University of Tokyo"),
          "Joe and Kuo's direction numbers": (None, "BSD-3-Clause", "in libcurand; Kuo and Joe")}


def debian_version(package: str) -> str:
    return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True, check=False).stdout or "unknown"


def identifier(text: str) -> str:
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", text)


def package(name: str, version: str, licence: str, comment: str) -> dict:
    return {"SPDXID": identifier(name), "name": name, "versionInfo": version, "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION",
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "comment": comment}


def document(root: pathlib.Path, version: str, when: int) -> dict:
    files, packages, relations = [], [package("millrace", version, "Apache-2.0", "CUDA on the CPU")], []
    for name, (source, licence, where) in INSIDE.items():
        packages.append(package(name, debian_version(source) if source else "as published", licence, where))
        relations.append(("SPDXRef-millrace", "CONTAINS", identifier(name)))
    wanted = {}
    for path in sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink()):
        name = str(path.relative_to(root))
        files.append({"SPDXID": identifier(f"file-{name}"), "fileName": f"./{name}", "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION",
                      "checksums": [{"algorithm": algorithm, "checksumValue": hashlib.new(algorithm.lower(), path.read_bytes()).hexdigest()} for algorithm in ("SHA1", "SHA256")]})
        relations.append(("SPDXRef-millrace", "CONTAINS", files[-1]["SPDXID"]))
        for library in needed(path) if is_elf(path) else []:
            if not (root / "lib" / library).exists():
                wanted.setdefault(library, path.name)
    for library in sorted(wanted):
        name = "libc6" if SYSTEM.fullmatch(library) and "stdc" not in library and "gcc" not in library else package_of(find_library(library))
        if all(known["name"] != name for known in packages):
            packages.append(package(name, debian_version(name), "NOASSERTION", f"has {library}, which {wanted[library]} needs when it runs"))
            relations.append(("SPDXRef-millrace", "DEPENDS_ON", identifier(name)))
    digest = hashlib.sha256(json.dumps(files).encode()).hexdigest()
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"millrace-{version}",
            "documentNamespace": f"urn:millrace:{version}:{digest}",
            "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when)), "creators": ["Tool: millrace-sbom"]},
            "documentDescribes": ["SPDXRef-millrace"], "packages": packages, "files": files,
            "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other} for one, kind, other in relations]}


def main() -> None:
    build, output = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    version = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text())[1]
    with tempfile.TemporaryDirectory() as folder:
        made = document(installed(build, pathlib.Path(folder)), version, source_time())
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(made, indent=1) + "\n")
    print(f"sbom: {output}, {len(made['files'])} files, {len(made['packages'])} packages")


if __name__ == "__main__":
    main()
