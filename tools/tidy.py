#!/usr/bin/env python3
"""clang-tidy over our sources.

  tidy.py BUILD [--jobs N] [FILE...]

BUILD is a configured build folder with the generated headers. A file that was clean is not read again until it, a
header of ours that it includes, its flags or .clang-tidy changes: the whole takes about half an hour of processor
time, what changed in a day a minute or two. Tests are read by the analyser's shallow mode, at a quarter of the time.
Exit 1 when something was found.
"""
import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "sibyl")
PROGRAM = os.path.join(CACHE, "clang-tidy-23.1.4", "clang_tidy", "data", "bin", "clang-tidy")
# In a test a copy more is no harm, and a loop over fractions says what it means.
OF_TESTS = [
    "--checks=-performance-*,-bugprone-implicit-widening-of-multiplication-result,-bugprone-float-loop-counter,"
    "-clang-analyzer-security.FloatLoopCounter",
    *"--extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=mode=shallow".split()]


@functools.cache
def included(path):
    """The file and every file of src/ that it includes, by way of others too."""
    found, todo = set(), [path]
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.add(name)
        with open(os.path.join(ROOT, name), encoding="utf-8") as file:
            for header in re.findall(r'^\s*#\s*include\s+"([^"]+)"', file.read(), re.MULTILINE):
                if os.path.exists(os.path.join(ROOT, "src", header)):
                    todo.append("src/" + header)
    return sorted(found)


def digest(command, path):
    state = hashlib.sha256(command.encode())
    for name in [".clang-tidy", *included(path)]:
        with open(os.path.join(ROOT, name), "rb") as file:
            state.update(hashlib.sha256(file.read()).digest())
    return state.hexdigest()


def sources(build, wanted):
    """(source, what its stamp is called) by the build's commands."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    for command in commands:
        name = os.path.relpath(os.path.join(command["directory"], command["file"]), ROOT)
        if name.startswith("src/") and name.endswith(".cc") and (not wanted or name in wanted):
            yield name, digest(command["command"], name)


def tidy(build, name):
    options = OF_TESTS if name.endswith("_test.cc") else []
    done = subprocess.run([PROGRAM, "-p", build, "--quiet", *options, os.path.join(ROOT, name)], capture_output=True,
                          text=True, check=False)
    return done.returncode, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*")
    options = parser.parse_intermixed_args()
    build = os.path.abspath(options.build)
    stamps = os.path.join(build, "tidy")
    os.makedirs(stamps, exist_ok=True)
    todo, clean = {}, 0
    for name, stamp in sources(build, set(options.files)):
        if os.path.exists(os.path.join(stamps, stamp)):
            clean += 1
        else:
            todo[name] = os.path.join(stamps, stamp)
    print(f"tidy: {clean} files as clean as before, {len(todo)} to read", flush=True)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = {pool.submit(tidy, build, name): name for name in todo}
        for run in concurrent.futures.as_completed(runs):
            code, text = run.result()
            if code == 0:
                open(todo[runs[run]], "w", encoding="utf-8").close()
            else:
                failed += 1
                print(f"{runs[run]}\n{text}", flush=True)
    print(f"tidy: {failed} files with findings", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
