#!/usr/bin/env python3
"""Nearest neighbours: recall@10 against searches a second on one thread, ours and the peers', alternating, so
that each round compares what ran within the same minutes. Rates are by CPU time and by the clock; the rate at a
recall is interpolated in its logarithm between the two neighbouring efforts; the ratio is that of a round. Each
round searches all queries once at each effort.

  compare_ann.py --programs build/release/bench [--set easy|hard|FILE] [--rounds 5] [--peers ...]

FILE is a set as ann_set and ann_text_set.py write it. Sets and built indexes are kept in the user's cache.
"""
import argparse
import hashlib
import json
import math
import os
import subprocess
import sys

import peers

REQUIREMENTS = ["numpy==2.4.6", "faiss-cpu==1.15.1", "hnswlib==0.8.0", "rabitqlib==0.7.1", "scalable-vs==0.5.0"]
WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ann_peers.py")
RECALLS = [0.95, 0.99]
GRAPH_EFFORTS = [16, 24, 32, 48, 64, 80, 96, 128, 160, 200, 250, 320, 400, 512, 700]
OURS = {"sibyl": [], "sibyl-compact": ["--compact"]}
PEERS = ["symphonyqg", "symphonyqg-8bit", "symphonyqg-4bit", "hnswlib", "faiss-hnsw", "faiss-ivf-pq-fastscan",
         "svs-lvq4x8", "svs-lvq8", "svs-leanvec"]


def lines(command):
    """JSON lines of a program; none when it failed, with its last words."""
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "2"})
    if done.returncode != 0:
        print(f"{os.path.basename(command[0])} {' '.join(command[1:4])}: {done.stderr.strip()[-300:]}",
              file=sys.stderr)
        return []
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def at_recall(points, recall, rate):
    """Rate at a recall, None when the efforts do not reach it."""
    points = sorted((point["recall"], point[rate]) for point in points)
    for (low, slow), (high, fast) in zip(points, points[1:]):
        if low <= recall <= high and high > low:
            share = (recall - low) / (high - low)
            return math.exp(math.log(slow) * (1 - share) + math.log(fast) * share)
    return None


class Ours:
    def __init__(self, name, options, set_path, folder):
        self.command = [os.path.join(options.programs, "ann"), set_path, "--index", "graph", "--passes", "1",
                        "--build-threads", "2", "--index-file", os.path.join(folder, name), *OURS[name]]
        self.file = os.path.join(folder, name)

    def build(self):
        if os.path.exists(self.file):
            os.remove(self.file)
        built = lines([*self.command, "--effort", "64"])
        return built and {"build_s": built[0]["build_s"], "build_cpu_s": built[0].get("build_cpu_s"),
                          "bytes_per_vector": built[0]["bytes_per_vector_resident"],
                          "bytes_per_vector_mapped": built[0]["bytes_per_vector_mapped"]}

    def search(self):
        return lines([*self.command, "--effort", ",".join(map(str, GRAPH_EFFORTS))])


class Peer:
    def __init__(self, name, python, set_path, folder):
        self.name, self.python, self.set_path = name, python, set_path
        self.file = os.path.join(folder, name)

    def run(self, action, *arguments):
        return lines([self.python, WORKER, action, self.name, self.set_path, self.file, *arguments])

    def build(self):
        """Kept from an earlier run, with its figures."""
        kept = self.file + ".json"
        if os.path.exists(kept) and os.path.exists(self.file):
            with open(kept, encoding="utf-8") as file:
                return json.load(file)
        built = self.run("build")
        if not built:
            return None
        with open(kept, "w", encoding="utf-8") as file:
            json.dump(built[0], file)
        return built[0]

    def search(self):
        return self.run("search", *map(str, GRAPH_EFFORTS))


def set_file(options):
    if options.set not in ("easy", "hard"):
        return options.set
    path = os.path.join(peers.cache_folder(), "ann", options.set + ".bin")
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        subprocess.run([os.path.join(options.programs, "ann_set"), options.set, path + ".part"], check=True)
        os.replace(path + ".part", path)
    return path


def index_folder(set_path):
    """Where the indexes of a set are kept."""
    with open(set_path, "rb") as file:
        key = hashlib.sha256(file.read(1 << 20)).hexdigest()[:12]
    folder = os.path.join(peers.cache_folder(), "ann", key)
    os.makedirs(folder, exist_ok=True)
    return folder


def summary(rounds, rate, recall, reference):
    """Rates of all rounds, and ours over each of them within a round."""
    ours = [at_recall(points.get(reference, []), recall, rate) for points in rounds]
    result = {}
    for name in rounds[0]:
        rates = [at_recall(points[name], recall, rate) for points in rounds]
        known = [value for value in rates if value]
        ratios = [mine / value for mine, value in zip(ours, rates) if mine and value]
        if known:
            result[name] = {"rate": peers.spread(known)}
            if ratios and name != reference:
                result[name]["ours_over_it"] = peers.spread(ratios)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--set", default="hard")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=PEERS)
    parser.add_argument("--ours", nargs="+", choices=list(OURS), default=list(OURS))
    options = parser.parse_args()
    python = peers.environment("ann", REQUIREMENTS)
    set_path = set_file(options)
    folder = index_folder(set_path)
    contenders = {name: Ours(name, options, set_path, folder) for name in options.ours}
    contenders.update({name: Peer(name, python, set_path, folder) for name in options.peers})
    for name, contender in list(contenders.items()):
        built = contender.build()
        if built:
            peers.report(bench="ann", set=options.set, index=name, what="build, two threads", **built)
        else:
            del contenders[name]
            peers.report(bench="ann", set=options.set, index=name, what="does not run on this CPU")
    rounds = []
    for number in range(options.rounds):
        rounds.append({name: contender.search() for name, contender in contenders.items()})
        for name, points in rounds[-1].items():
            peers.report(bench="ann", set=options.set, round=number, index=name,
                         sweep=[[point["recall"], round(point["qps_cpu"]), round(point["qps_wall"])]
                                for point in points])
    for rate in ("qps_cpu", "qps_wall"):
        for recall in RECALLS:
            peers.report(bench="ann", set=options.set, rate=rate, recall=recall, rounds=options.rounds,
                         results=summary(rounds, rate, recall, options.ours[0]))


if __name__ == "__main__":
    main()
