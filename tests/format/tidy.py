#!/usr/bin/env python3
"""Rules that a formatter does not know, over every file that git tracks.

  tidy.py REPOSITORY     exit 1 and one line a finding
"""
import os
import re
import subprocess
import sys

LINES_MAX = 800          # a C++ file above it is more than one idea; 400 is where to look
BYTES_MAX = 1_000_000
CODE = (".cc", ".h")
REMINDER = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
LINK = re.compile(r"\[[^\]]*\]\(([^)#:\s]+)(?:#[^)]*)?\)")


def tracked(root):
    out = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True,
                         text=True, check=True).stdout
    return [name for name in out.splitlines() if os.path.isfile(os.path.join(root, name))]


def check_code(name, lines, findings):
    if len(lines) > LINES_MAX:
        findings.append(f"{name}: {len(lines)} lines; split it (at most {LINES_MAX})")
    for number, line in enumerate(lines, 1):
        if len(line) > 100 and "R\"" not in line and "http" not in line and not line.startswith("#include"):
            findings.append(f"{name}:{number}: {len(line)} columns (at most 100)")
    # Highway's -inl.h headers are read once for each instruction set, by design.
    if name.endswith(".h") and not name.endswith("-inl.h") and "#pragma once" not in lines:
        findings.append(f"{name}: no #pragma once")


def check_markdown(root, name, text, findings):
    folder = os.path.dirname(os.path.join(root, name))
    for target in LINK.findall(text):
        if not os.path.exists(os.path.join(folder, target)):
            findings.append(f"{name}: link to {target}, which is not there")


def main():
    root = sys.argv[1]
    findings, names = [], tracked(root)
    for name in names:
        path = os.path.join(root, name)
        if os.path.getsize(path) > BYTES_MAX:
            findings.append(f"{name}: over {BYTES_MAX} bytes")
        with open(path, "rb") as file:
            raw = file.read()
        if b"\0" in raw:
            continue
        text = raw.decode("utf-8", "replace")
        if name != os.path.join("tests", "format", "tidy.py") and not name.startswith("tests/data/"):
            for number, line in enumerate(text.splitlines(), 1):
                if REMINDER.search(line) and "package-lock" not in name:
                    findings.append(f"{name}:{number}: a reminder in place of work")
        if name.endswith(CODE):
            check_code(name, text.splitlines(), findings)
        if name.endswith(".md"):
            check_markdown(root, name, text, findings)
    rooms = os.path.join(root, "src")
    for room in sorted(os.listdir(rooms)):
        if not os.path.isfile(os.path.join(rooms, room, "README.md")):
            findings.append(f"src/{room}: no README.md that says what the room is for and not for")
    print("\n".join(findings))
    print(f"{len(names)} files, {len(findings)} findings")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
