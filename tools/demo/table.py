#!/usr/bin/env python3
"""Prints the demo's table from two reports of `sibyl --json evaluate`.

  table.py UNTRAINED.json TRAINED.json
"""
import json
import sys


def pipelines(path):
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    return {row["pipeline"]: row["metrics"] for row in report["pipelines"]}


def cell(estimate):
    return f"{100 * estimate['mean']:5.1f} ({100 * estimate['low']:.1f}-{100 * estimate['high']:.1f})"


def main():
    untrained, trained = pipelines(sys.argv[1]), pipelines(sys.argv[2])
    rows = [
        ("BM25 (keywords)", untrained["bm25"]),
        ("MiniLM, untrained", untrained["document"]),
        ("MiniLM, trained here", trained["document"]),
        ("untrained + BM25", untrained["document+bm25"]),
        ("trained + BM25", trained["document+bm25"]),
        ("trained, blend of all four", trained["blend"]),
    ]
    print(f"{'':28}{'P@1 (95 % interval)':>24}{'nDCG@10 (95 % interval)':>26}")
    for name, metrics in rows:
        print(f"{name:28}{cell(metrics['P@1']):>24}{cell(metrics['nDCG@10']):>26}")
    gain = 100 * (trained["document"]["nDCG@10"]["mean"] - untrained["document"]["nDCG@10"]["mean"])
    if gain > 0:
        print(f"\nTraining on the other documentation changed nDCG@10 by {gain:+.1f} points.")
    else:
        print(f"\nTraining did not help here: nDCG@10 changed by {gain:+.1f} points.")


if __name__ == "__main__":
    main()
