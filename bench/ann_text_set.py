#!/usr/bin/env python3
"""Makes a set for the nearest-neighbour comparison from real text: distinct sentences are the base, real
questions that are not among them the queries, both encoded by `sibyl encode`. JSONL in: texts have a field
`answer` or `text`, questions `question` or `text`. The file is that of ann_set; keep it outside of any
repository when the texts are not yours to give.

  ann_text_set.py --sibyl build/release/sibyl --model DIR --texts a.jsonl --questions b.jsonl --out text.bin
"""
import argparse
import json
import os
import random
import re
import subprocess
import tempfile

import numpy

SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z0-9\"'(\[-])|\n+")
LETTERS_MIN = 15
NEIGHBOURS = 10


def rows(files):
    for name in files:
        with open(name, encoding="utf-8") as file:
            yield from (json.loads(line) for line in file if line.strip())


def sentences(files):
    """Distinct, in order of appearance."""
    found = {}
    for row in rows(files):
        for sentence in SENTENCE_END.split(row.get("answer") or row.get("text") or ""):
            sentence = " ".join(sentence.split())
            if len(sentence) >= LETTERS_MIN:
                found[sentence] = None
    return list(found)


def encode(options, texts, folder, *flags):
    source, target = os.path.join(folder, "texts.txt"), os.path.join(folder, "vectors.npy")
    with open(source, "w", encoding="utf-8") as file:
        file.writelines(text + "\n" for text in texts)
    with open(source, encoding="utf-8") as file:
        subprocess.run([options.sibyl, "--data", os.path.join(folder, "data"), "encode", "--model", "encoder",
                        "--npy", target, *flags], stdin=file, check=True)
    return numpy.load(target).astype(numpy.float32)


def nearest(base, queries):
    """Ids of the largest inner products, largest first."""
    found = []
    for start in range(0, len(queries), 50):
        scores = queries[start:start + 50] @ base.T
        best = numpy.argpartition(-scores, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
        order = numpy.argsort(-numpy.take_along_axis(scores, best, 1), axis=1, kind="stable")
        found.append(numpy.take_along_axis(best, order, 1))
    return numpy.concatenate(found).astype(numpy.int32)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sibyl", required=True)
    parser.add_argument("--model", required=True, help="a sentence-transformers directory")
    parser.add_argument("--texts", nargs="+", required=True)
    parser.add_argument("--questions", nargs="+", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--sentences-max", type=int, default=200_000)
    parser.add_argument("--queries", type=int, default=1_000)
    options = parser.parse_args()
    texts = sentences(options.texts)
    choose = random.Random(1)
    if len(texts) > options.sentences_max:
        texts = choose.sample(texts, options.sentences_max)
    asked = {" ".join((row.get("question") or row["text"]).split()) for row in rows(options.questions)}
    questions = choose.sample(sorted(asked - set(texts)), options.queries)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([options.sibyl, "--data", os.path.join(folder, "data"), "models", "import", options.model,
                        "--name", "encoder"], check=True)
        base = encode(options, texts, folder)
        queries = encode(options, questions, folder, "--question")
    with open(options.out + ".part", "wb") as file:
        numpy.array([len(base), base.shape[1], len(queries)], numpy.int32).tofile(file)
        base.tofile(file)
        queries.tofile(file)
        nearest(base, queries).tofile(file)
    os.replace(options.out + ".part", options.out)
    print(f"{options.out}: {len(base)} sentences, {len(queries)} questions, dimension {base.shape[1]}")


if __name__ == "__main__":
    main()
