#!/usr/bin/env python3
"""Adds a data set's passages with a transformer model, against sentence-transformers encoding the same
texts, alternating, all cores. "encode" is like work (texts in, vectors out, process start included);
"add" does more: it cuts passages, encodes three fields and stores durably.

  compare_encode.py --sibyl build/release/sibyl --model DIR --corpus corpus.jsonl [--rounds 3]
"""
import argparse
import json
import os
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
start = time.time()
model.encode(texts, batch_size=32)
print(time.time() - start)
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sibyl", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    python = peers.environment("sentence-transformers", ["sentence-transformers==6.2.0", "torch==2.15.0"])
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        rows = [json.loads(line) for line in open(options.corpus, encoding="utf-8") if line.strip()]
        texts = ["\n".join([row.get("title") or "", *(row.get("headers") or []), row["text"]]) for row in rows]
        text_file = os.path.join(folder, "texts.jsonl")
        with open(text_file, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(text) + "\n" for text in texts)
        ours, theirs = {"encode": [], "add": []}, []
        for number in range(options.rounds):
            data = os.path.join(folder, f"data{number}")
            base = [options.sibyl, "--data", data, "--quiet"]
            subprocess.run([*base, "models", "import", options.model, "--name", "m"], check=True,
                           stdout=subprocess.DEVNULL)
            lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
            start = time.time()
            subprocess.run([*base, "encode", "--model", "m", "--npy", os.path.join(folder, "v.npy"), "--json"],
                           input=lines, text=True, check=True, stdout=subprocess.DEVNULL)
            ours["encode"].append(time.time() - start)
            documents = os.path.join(folder, "documents.jsonl")
            with open(documents, "w", encoding="utf-8") as file:
                for row in rows:
                    file.write(json.dumps({"id": row["_id"], "title": row.get("title") or "",
                                           "headings": row.get("headers") or [], "text": row["text"]}) + "\n")
            start = time.time()
            subprocess.run([*base, "add", "c", documents, "--model", "m"], check=True, stdout=subprocess.DEVNULL)
            ours["add"].append(time.time() - start)
            out = subprocess.run([python, "-c", PEER, options.model, text_file, str(cores)], check=True,
                                 stdout=subprocess.PIPE, text=True)
            theirs.append(float(out.stdout.split()[-1]))
            print(f"round {number}: encode {ours['encode'][-1]:.1f} s, add {ours['add'][-1]:.1f} s, "
                  f"sentence-transformers {theirs[-1]:.1f} s", file=sys.stderr)
    for name, seconds in ours.items():
        ratios = [b / a for a, b in zip(seconds, theirs)]
        peers.report(bench="compare_encode", what=name, texts=len(texts), ours_s=peers.spread(seconds),
                     sentence_transformers_s=peers.spread(theirs), times_faster=peers.spread(ratios))


if __name__ == "__main__":
    main()
