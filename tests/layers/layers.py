#!/usr/bin/env python3
"""The house's walls: fails on an #include that the table of rooms does not allow, on a third-party
header outside the room that owns it, and on a heavy header in a public one.

  layers.py REPOSITORY     exit 1 and one line a finding
"""
import os
import re
import sys

ROOMS = {  # room: what it may use (DESIGN's table; model -> net by decision 001)
    "base": "",
    "simd": "base",
    "text": "base",
    "rank": "base",
    "net": "base",
    "model": "base text net",
    "encoder": "base simd text model net",
    "index": "base simd text",
    "train": "base simd text model rank index",
    "store": "base simd text index net",
    "answer": "base text rank model encoder index store",
    "job": "base text rank net model encoder answer store",
    "server": "base simd text rank net model encoder index store answer job",
    "cli": "base simd text rank net model encoder index store answer job server",
}
OWNED = {  # beginning of a third-party header: rooms that may include it
    "spdlog/": "base", "yaml-cpp/": "base", "zlib.h": "base", "simdjson.h": "base", "prometheus/": "base",
    "hwy/": "simd", "immintrin.h": "simd", "x86intrin.h": "simd", "arm_neon.h": "simd",
    "utf8proc.h": "text", "libstemmer.h": "text", "iconv.h": "text",
    "curl/": "net", "openssl/": "net", "libxml/": "net",
    "dnnl": "encoder", "oneapi/dnnl": "encoder", "omp.h": "encoder train",
    "torch/": "train", "ATen/": "train", "c10/": "train",
    "gumbo.h": "answer",
    "boost/": "server", "grpc": "server", "google/protobuf/": "server",
    "CLI/": "cli",
}
FREE_IN_HEADERS = {"fmt/format.h", "tl/expected.hpp", "nlohmann/json_fwd.hpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')


def check(path, room, public, findings):
    allowed = set(ROOMS[room].split()) | {room}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            quote, name = match.groups()
            where = f"{path}:{number}: "
            first = name.split("/")[0]
            if quote == '"' and first in ROOMS and first not in allowed:
                findings.append(f"{where}room {room} may not use room {first} ({name})")
            if quote == '"' and first in ROOMS and first != room and "/internal/" in name:
                findings.append(f"{where}{name} is private to room {first}")
            for beginning, owners in OWNED.items():
                if name.startswith(beginning) and room not in owners.split():
                    findings.append(f"{where}{name} belongs to room {owners}")
            if public:
                third_party = quote == "<" and ("/" in name or name.endswith((".h", ".hpp")))
                system = name.startswith(("sys/", "netinet/")) or name in {"unistd.h", "fcntl.h"}
                if third_party and name not in FREE_IN_HEADERS and not system and name != "nlohmann/json.hpp":
                    findings.append(f"{where}a public header may not include {name}")
                if name == "nlohmann/json.hpp" and not path.endswith("base/json.h"):
                    findings.append(f"{where}use base/json_fwd.h in public headers")
                if name == "base/json.h":
                    findings.append(f"{where}base/json.h is for .cc files; use base/json_fwd.h")


def main():
    source = os.path.join(sys.argv[1], "src")
    findings, files = [], 0
    for room in sorted(os.listdir(source)):
        if room not in ROOMS:
            findings.append(f"src/{room} is not a room of the table")
            continue
        for folder, _, names in os.walk(os.path.join(source, room)):
            for name in sorted(names):
                if name.endswith((".h", ".cc")):
                    internal = "/internal" in folder
                    check(os.path.join(folder, name), room, name.endswith(".h") and not internal, findings)
                    files += 1
    for finding in findings:
        print(os.path.relpath(finding, sys.argv[1]) if finding.startswith("/") else finding)
    print(f"{files} files, {len(findings)} findings")
    sys.exit(1 if findings or files == 0 else 0)


if __name__ == "__main__":
    main()
