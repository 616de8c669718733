#!/usr/bin/env python3
"""Durable inserts a second at 384 dimensions: the store and SQLite (WAL, synchronous=FULL), alternating.

Usage: compare_store.py STORE_BENCH [--rows N] [--rounds N] [--folder DIR]. One JSON line a setting, with
the median and the spread of the rounds. Both acknowledge a batch after its log was synced.
"""
import argparse
import json
import os
import random
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time

DIMENSION = 384


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "unknown"


def ours(program, folder, rows, batch):
    out = subprocess.run([program, "inserts", folder, str(rows), str(batch), "1"], check=True,
                         capture_output=True, text=True).stdout
    return json.loads(out.splitlines()[-1])["rows_per_s"]


def sqlite(folder, rows, batch):
    generator = random.Random(1)
    vectors = [generator.randbytes(4 * DIMENSION) for _ in range(rows)]
    made = [(f"row-{i}", f'{{"id":"row-{i}"}}', f"a few words of row {i}", vectors[i]) for i in range(rows)]
    database = sqlite3.connect(os.path.join(folder, "rows.db"), isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=FULL")
    database.execute("CREATE TABLE rows (id TEXT PRIMARY KEY, source TEXT, body TEXT, vector BLOB)")
    start = time.monotonic()
    for first in range(0, rows, batch):
        database.execute("BEGIN")
        database.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?)", made[first:first + batch])
        database.execute("COMMIT")
    seconds = time.monotonic() - start
    database.close()
    return rows / seconds


def in_fresh_folder(parent, work):
    folder = tempfile.mkdtemp(dir=parent)
    try:
        return work(folder)
    finally:
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store_bench")
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="on the disk to be measured; the system's temporary one")
    options = parser.parse_args()
    for batch in (1, 100):
        rows = min(options.rows, 2000) if batch == 1 else options.rows
        times = {"sibyl": [], "sqlite": []}
        for _ in range(options.rounds):
            times["sibyl"].append(in_fresh_folder(
                options.folder, lambda folder: ours(options.store_bench, folder, rows, batch)))
            times["sqlite"].append(in_fresh_folder(options.folder, lambda folder: sqlite(folder, rows, batch)))
        line = {"bench": "durable inserts", "cpu": cpu_name(), "dimension": DIMENSION, "rows": rows, "batch": batch}
        for name, values in times.items():
            line[f"{name}_rows_per_s"] = round(statistics.median(values))
            line[f"{name}_spread"] = [round(min(values)), round(max(values))]
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
