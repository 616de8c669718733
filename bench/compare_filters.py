#!/usr/bin/env python3
"""Nearest neighbours under filters: searches a second at recall@10 0.95 on one thread, our graph as it chooses, our
graph made to go each way, and Faiss HNSW with an IDSelector, in one run on one machine.

  compare_filters.py --programs build/release/bench [--set hard|easy|FILE] [--percents 1 20] [--kinds random]

Filters are random, correlated (rows and questions of one region) and anti-correlated (rows far from the questions);
`ann --write-filter` makes them and the true answers, so both programs answer the same. Each program is searched at
rising efforts up to the recall; its rate there is interpolated. `over_best` is the time of what the graph chooses
over that of the best way; `over_faiss` how many times faster it is. A way that does not reach the recall has no rate.
"""
import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile

import compare_ann
import peers

PERCENTS = [0.01, 0.1, 1, 5, 20, 50, 90]
KINDS = ["random", "correlated", "anti-correlated"]
WAYS = ["chosen", "scan", "inside", "among"]
EFFORTS = [10, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 2048, 4096]
RECALL = 0.95

FAISS = """
import json, sys, time
import faiss, numpy
index_file, filter_file, dimension, goal = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
faiss.omp_set_num_threads(1)
index = faiss.read_index(index_file)
raw = numpy.fromfile(filter_file, dtype=numpy.uint8)
count, queries, k = (int(value) for value in raw[:12].view(numpy.int32))
rows = raw[12:12 + 4 * count].view(numpy.uint32)
vectors = raw[12 + 4 * count:12 + 4 * count + 4 * queries * dimension].view(numpy.float32).reshape(queries, dimension)
nearest = raw[12 + 4 * count + vectors.nbytes:].view(numpy.int32).reshape(queries, k)
bits = numpy.zeros(index.ntotal, dtype=bool)
bits[rows] = True
bitmap = numpy.packbits(bits, bitorder="little")
selector = faiss.IDSelectorBitmap(bitmap)
wanted = int((nearest >= 0).sum())
for effort in map(int, sys.argv[5:]):
    parameters = faiss.SearchParametersHNSW(sel=selector, efSearch=effort)
    wall = cpu = float("inf")
    for _ in range(5):
        start, cpu_start = time.perf_counter(), time.process_time()
        found = index.search(vectors, k, params=parameters)[1]
        wall, cpu = min(wall, time.perf_counter() - start), min(cpu, time.process_time() - cpu_start)
        if wall > 2:
            break
    hits = sum(len(set(map(int, row)) & set(map(int, best)) - {-1}) for row, best in zip(found, nearest))
    print(json.dumps({"recall": hits / max(wanted, 1), "qps_cpu": queries / cpu, "qps_wall": queries / wall}),
          flush=True)
    if hits >= goal * wanted:
        break
"""


def rate(points, recall):
    """Searches a CPU second at the recall: interpolated, or at the least effort where that already exceeds it."""
    points = sorted(points, key=lambda point: point["recall"])
    if not points or points[-1]["recall"] < recall:
        return None
    if points[0]["recall"] >= recall:
        return max(point["qps_cpu"] for point in points)
    return compare_ann.at_recall(points, recall, "qps_cpu")


def ours(options, set_path, index_file, percent, kind, way, filter_file=None):
    command = [os.path.join(options.programs, "ann"), set_path, "--index", "graph", "--passes", "10" if kind == "random" else "40", "--index-file",
               index_file, "--filter-percent", str(percent), "--filter", kind, "--regime", way, "--recall",
               str(RECALL), "--effort", ",".join(map(str, EFFORTS))]
    if filter_file:
        command += ["--write-filter", filter_file]
    # A way that does not suit takes minutes for what another does in milliseconds: it then counts as without a rate.
    try:
        output = subprocess.run(command, capture_output=True, text=True, timeout=options.seconds, check=True).stdout
    except subprocess.TimeoutExpired as late:
        output = (late.stdout or b"").decode()
    points = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return [point for point in points if point["parameters"]["effort"] != "interpolated"]


def one(options, python, files, dimension, percent, kind):
    with tempfile.TemporaryDirectory() as folder:
        filter_file = os.path.join(folder, "filter")
        rates = {}
        for way in WAYS:
            points = ours(options, files["set"], files["graph"], percent, kind, way,
                          filter_file if way == "chosen" else None)
            rates[way] = rate(points, RECALL)
        theirs = compare_ann.lines([python, "-c", FAISS, files["faiss"], filter_file, str(dimension), str(RECALL),
                                    *map(str, EFFORTS)])
        rates["faiss"] = rate(theirs, RECALL)
    best = max((value for way, value in rates.items() if way not in ("chosen", "faiss") and value), default=None)
    chosen = rates["chosen"]
    peers.report(percent=percent, filter=kind, qps_cpu={way: value and round(value) for way, value in rates.items()},
                 faiss_recall=max((point["recall"] for point in theirs), default=None),
                 over_best=chosen and best and round(best / chosen, 3),
                 over_faiss=chosen and rates["faiss"] and round(chosen / rates["faiss"], 2))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--set", default="hard")
    parser.add_argument("--percents", type=float, nargs="+", default=PERCENTS)
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--seconds", type=float, default=20, help="for each way, reading the set included")
    options = parser.parse_args()
    python = peers.environment("ann", compare_ann.REQUIREMENTS)
    files = {"set": compare_ann.set_file(options)}
    with open(files["set"], "rb") as file:
        dimension = int.from_bytes(file.read(8)[4:], "little")
    folder = compare_ann.index_folder(files["set"])
    files["graph"], files["faiss"] = os.path.join(folder, "sibyl"), os.path.join(folder, "faiss-hnsw")
    if not os.path.exists(files["graph"]):
        options.seconds, seconds = 600, options.seconds
        ours(options, files["set"], files["graph"], 50, "random", "chosen")
        options.seconds = seconds
    if not os.path.exists(files["faiss"]):
        subprocess.run([python, compare_ann.WORKER, "build", "faiss-hnsw", files["set"], files["faiss"]], check=True,
                       stdout=sys.stderr)
    for percent, kind in itertools.product(options.percents, options.kinds):
        one(options, python, files, dimension, percent, kind)


if __name__ == "__main__":
    main()
