#!/usr/bin/env python3
"""clang-tidy over our sources that a build folder knows, except the trainer's, which need LibTorch's headers.

  tidy.py BUILD [--jobs N] [FILE...]

A file that was clean is not read again until it, a header of ours that it includes, its flags or .clang-tidy changes:
the whole takes about three hours of processor time, what changed in a day some minutes. BUILD must have been built,
so that Ninja knows what each source includes. Exit 1 when something was found.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def included(build):
    """Object file -> what it was compiled from, as Ninja noted it."""
    out = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    found, current = {}, None
    for line in out.splitlines():
        if line.startswith("    "):
            current.add(os.path.normpath(os.path.join(build, line.strip())))
        elif ": #deps" in line:
            current = found.setdefault(line.split(": #deps")[0], set())
    return found


def sources(build, wanted):
    """(source, flags and everything of ours that it reads) by the build's commands."""
    deps = included(build)
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    for command in commands:
        path = os.path.normpath(os.path.join(command["directory"], command["file"]))
        name = os.path.relpath(path, ROOT)
        if not name.startswith("src/") or name.startswith("src/train/") or not name.endswith(".cc"):
            continue
        if wanted and name not in wanted:
            continue
        ours = sorted(item for item in deps.get(command["output"], ()) if item.startswith(ROOT + os.sep))
        if not ours:
            sys.exit(f"tidy: {name} is not built in {build}: build it first")
        yield name, [command["command"], *ours]


def digest(parts):
    state = hashlib.sha256(parts[0].encode())
    for path in [os.path.join(ROOT, ".clang-tidy"), *parts[1:]]:
        with open(path, "rb") as file:
            state.update(hashlib.sha256(file.read()).digest())
    return state.hexdigest()


def tidy(build, name):
    done = subprocess.run(["clang-tidy-19", "-p", build, "--quiet", os.path.join(ROOT, name)], capture_output=True,
                          text=True, check=False)
    return done.returncode, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    stamps = os.path.join(build, "tidy")
    os.makedirs(stamps, exist_ok=True)
    todo, clean = [], 0
    for name, parts in sources(build, set(options.files)):
        stamp = os.path.join(stamps, digest(parts))
        if os.path.exists(stamp):
            clean += 1
        else:
            todo.append((name, stamp))
    print(f"tidy: {clean} files as clean as before, {len(todo)} to read", flush=True)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = {pool.submit(tidy, build, name): (name, stamp) for name, stamp in todo}
        for run in concurrent.futures.as_completed(runs):
            name, stamp = runs[run]
            code, text = run.result()
            if code == 0:
                open(stamp, "w", encoding="utf-8").close()
            else:
                failed += 1
                print(f"{name}\n{text}", flush=True)
    print(f"tidy: {failed} files with findings", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
