#!/usr/bin/env python3
"""Adds a data set's passages with a transformer model, against sentence-transformers encoding the same
texts, alternating, all cores. "encode" is like work (texts in, vectors out, process start included).
"add" takes the passages as they are (chunking off), encodes their headings too and stores durably.
"add_chunks" is the default: it also encodes every passage in pieces of 200 tokens, more than twice the
tokens in all. Seconds are of the clock; CPU seconds stand beside them and are fairer on a busy machine.

  compare_encode.py --sibyl build/release/sibyl --model DIR --corpus corpus.jsonl [--rounds 3]
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import peers

PEER = """
import json, sys, time
import torch
from sentence_transformers import SentenceTransformer
torch.set_num_threads(int(sys.argv[3]))
model = SentenceTransformer(sys.argv[1], device="cpu")
texts = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]
model.encode(texts[:8])
start, cpu = time.time(), time.process_time()
model.encode(texts, batch_size=32)
print(time.time() - start, time.process_time() - cpu)
"""


def timed(command, **options):
    """Seconds of the clock and of the CPU that a child process takes."""
    start, before = time.time(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.time() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sibyl", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--what", nargs="+", choices=["encode", "add", "add_chunks"],
                        default=["encode", "add", "add_chunks"])
    options = parser.parse_args()
    python = peers.environment("sentence-transformers", ["sentence-transformers==6.2.0", "torch==2.15.0"])
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        rows = [json.loads(line) for line in open(options.corpus, encoding="utf-8") if line.strip()]
        texts = ["\n".join([row.get("title") or "", *(row.get("headers") or []), row["text"]]) for row in rows]
        text_file = os.path.join(folder, "texts.jsonl")
        with open(text_file, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(text) + "\n" for text in texts)
        documents = os.path.join(folder, "documents.jsonl")
        with open(documents, "w", encoding="utf-8") as file:
            for row in rows:
                file.write(json.dumps({"id": row["_id"], "title": row.get("title") or "",
                                       "headings": row.get("headers") or [], "text": row["text"]}) + "\n")
        lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
        ours, theirs = {what: [] for what in options.what}, []
        for number in range(options.rounds):
            base = [options.sibyl, "--data", os.path.join(folder, f"data{number}"), "--quiet"]
            subprocess.run([*base, "models", "import", options.model, "--name", "m"], check=True,
                           stdout=subprocess.DEVNULL)
            for what, chunking in (("add", "off"), ("add_chunks", "200:40")):
                subprocess.run([*base, "collections", "create", what, "--model", "m", "--chunking", chunking],
                               check=True, stdout=subprocess.DEVNULL)
            vectors = os.path.join(folder, "v.npy")
            commands = {
                "encode": ([*base, "encode", "--model", "m", "--npy", vectors, "--json"], {"input": lines, "text": True}),
                "add": ([*base, "add", "add", documents], {}),
                "add_chunks": ([*base, "add", "add_chunks", documents], {}),
            }
            for what in options.what:
                command, given = commands[what]
                ours[what].append(timed(command, **given))
            out = subprocess.run([python, "-c", PEER, options.model, text_file, str(cores)], check=True,
                                 stdout=subprocess.PIPE, text=True)
            theirs.append(tuple(map(float, out.stdout.split()[-2:])))
            print(f"round {number}: {ours}, sentence-transformers {theirs}", file=sys.stderr)
    for what, figures in ours.items():
        for unit, place in (("s", 0), ("cpu_s", 1)):
            mine, other = [f[place] for f in figures], [f[place] for f in theirs]
            peers.report(bench="compare_encode", what=what, texts=len(texts), unit=unit, ours=peers.spread(mine),
                         sentence_transformers=peers.spread(other),
                         times_faster=peers.spread([b / a for a, b in zip(mine, other)]))


if __name__ == "__main__":
    main()
