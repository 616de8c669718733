"""What the comparisons share: a virtual environment of peers, alternating runs, spread, the CPU's name."""
import json
import os
import statistics
import subprocess
import sys
import venv


def cache_folder():
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "sibyl")


def environment(name, requirements):
    """Path of a Python with `requirements` installed, made once in the user's cache."""
    folder = os.path.join(cache_folder(), "peers-" + name)
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(os.path.join(folder, "complete")):
        print(f"peers: installing {' '.join(requirements)} into {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *requirements], check=True)
        open(os.path.join(folder, "complete"), "w", encoding="utf-8").close()
    return python


def cpu():
    """Model name and the widest vector extension, as every result states."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        text = file.read()
    name = next((line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")), "?")
    flags = set(next((line for line in text.splitlines() if line.startswith("flags")), "").split())
    widest = next((flag for flag in ("avx512_vnni", "avx512f", "avx2") if flag in flags), "sse")
    return {"cpu": name, "widest": widest, "cores": os.cpu_count()}


def spread(values):
    ordered = sorted(values)
    return {"median": round(statistics.median(ordered), 3), "low": round(ordered[0], 3), "high": round(ordered[-1], 3)}


def report(**figures):
    print(json.dumps({**cpu(), **figures}), flush=True)
