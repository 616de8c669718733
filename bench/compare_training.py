#!/usr/bin/env python3
"""Fine-tunes one transformer on the labelled questions of a data set with sibyl-trainer and with
sentence-transformers, alternating, one thread each: time, and nDCG@10 on the validation questions.

  compare_training.py --trainer build/release/sibyl-trainer --model DIR --data DIR [--rounds 1] [--epochs 2]

DATA holds corpus.jsonl, queries.{train,valid}.jsonl and qrels.{train,valid}.tsv (BEIR layout, texts as title,
headers, text). Both train --epochs epochs at 128 tokens with a learning rate of 5e-5, 10 % warm-up and float32; the
peer with MultipleNegativesRankingLoss and batches of 32 pairs without duplicates, as its documentation advises.
Neither validates while it trains; afterwards one evaluator (the peer's) measures both models at 256 tokens. Ours is
timed as a whole process, reading and writing included; the peer's time is of trainer.train() alone. CPU seconds stand
beside wall seconds: under other load they are the ones to compare. `reached` says whether the epochs met --goal.
"""
import argparse
import json
import os
import resource
import shutil
import subprocess
import tempfile
import time

import peers

PARAMETERS = {
    "stages": "labels", "epochs": 2, "cold_epochs": 0, "learning_rate": 5e-5, "cold_learning_rate": 5e-5,
    "warmup_share": 0.1, "final_share": 0.0, "weight_decay": 0.01, "gradient_norm_max": 1.0, "batch_passages": 32,
    "batch_questions_max": 128, "micro_batch_tokens": 4096, "question_tokens_max": 64, "passage_tokens_max": 128,
    "index_tokens_max": 256, "scale": 20, "symmetric": True, "mask_margin": -1, "dropout": 0.0, "dimension": 0, "patience": 0,
    "validate_every_steps": 0, "budget_minutes": 0, "seed": 1, "threads": 1}

PEER = """
import json, sys, time
import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
torch.set_num_threads(1)
folder, workspace, seed, epochs = sys.argv[1:5]
rows = lambda name: [json.loads(line) for line in open(f"{workspace}/data/{name}.jsonl", encoding="utf-8")]
passages = [row["text"] for row in rows("passages")]
pairs = [(row["question"], passages[index]) for row in rows("pairs") for index in row["passages"]]
model = SentenceTransformer(folder, device="cpu")
model.max_seq_length = 128
data = Dataset.from_dict({"anchor": [pair[0] for pair in pairs], "positive": [pair[1] for pair in pairs]})
arguments = SentenceTransformerTrainingArguments(
    output_dir=workspace + "/peer", num_train_epochs=int(epochs), per_device_train_batch_size=32, learning_rate=5e-5,
    warmup_steps=0.1, batch_sampler="no_duplicates", use_cpu=True, seed=int(seed), report_to=[], save_strategy="no", disable_tqdm=True,
    logging_strategy="no")
trainer = SentenceTransformerTrainer(model=model, args=arguments, train_dataset=data,
                                     loss=MultipleNegativesRankingLoss(model))
start, cpu = time.time(), time.process_time()
trainer.train()
wall, cpu = time.time() - start, time.process_time() - cpu
model.save(workspace + "/peer-model")
print(json.dumps({"seconds": wall, "cpu_seconds": cpu, "pairs": len(pairs) * int(epochs)}))
"""

EVALUATE = """
import json, sys
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator
torch.set_num_threads(1)
workspace, folder = sys.argv[1:3]
rows = lambda name: [json.loads(line) for line in open(f"{workspace}/data/{name}.jsonl", encoding="utf-8")]
model = SentenceTransformer(folder, device="cpu")
model.max_seq_length = 256
valid = rows("valid")
evaluator = InformationRetrievalEvaluator(
    {str(i): row["question"] for i, row in enumerate(valid)},
    {str(i): row["text"] for i, row in enumerate(rows("passages"))},
    {str(i): {str(index) for index in row["passages"]} for i, row in enumerate(valid)}, batch_size=32)
scores = evaluator(model)
print(json.dumps(next(float(value) for name, value in scores.items() if name.endswith("cosine_ndcg@10"))))
"""


def read_rows(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def judged(data, split, places):
    questions = {row["_id"]: row["text"] for row in read_rows(f"{data}/queries.{split}.jsonl")}
    gold = {}
    with open(f"{data}/qrels.{split}.tsv", encoding="utf-8") as file:
        for line in list(file)[1:]:
            question, document, score = line.split("\t")
            if float(score) > 0 and document in places:
                gold.setdefault(questions[question], set()).add(places[document])
    return [{"question": text, "passages": sorted(answers)} for text, answers in gold.items()]


def write_rows(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def make_workspace(folder, data, model, parameters):
    os.makedirs(f"{folder}/data")
    corpus = read_rows(f"{data}/corpus.jsonl")
    places = {row["_id"]: place for place, row in enumerate(corpus)}
    write_rows(f"{folder}/data/passages.jsonl",
               [{"id": row["_id"], "text": "\n".join(part for part in [row.get("title"), *(row.get("headers") or []),
                                                                       row["text"]] if part)} for row in corpus])
    for split, name in (("train", "pairs"), ("valid", "valid")):
        write_rows(f"{folder}/data/{name}.jsonl", judged(data, split, places))
    shutil.copytree(model, f"{folder}/base")
    job = {"format": 1, "kind": "supervised", "name": "bench", "base": {"name": "base", "kind": "transformer"},
           "device": "cpu", "train": parameters}
    with open(f"{folder}/job.json", "w", encoding="utf-8") as file:
        json.dump(job, file)


def timed(command, environment):
    """Last line of the output, wall and CPU seconds of the whole process."""
    usage, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    output = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    lines = output.strip().splitlines()
    return (lines[-1] if lines else "", time.time() - start,
            after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime)


def one_round(options, python, parameters, folder):
    """Seconds, CPU seconds and nDCG@10 of ours and of the peer's."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    workspace = f"{folder}/workspace"
    make_workspace(workspace, options.data, options.model, parameters)
    evaluation = f"{folder}/evaluation"
    shutil.copytree(f"{workspace}/data", f"{evaluation}/data")
    # The trainer measures every epoch where there are questions to measure on; here nobody does while timed.
    os.remove(f"{workspace}/data/valid.jsonl")
    _, wall, cpu = timed([options.trainer, "--workspace", workspace], environment)
    with open(f"{workspace}/report/train.json", encoding="utf-8") as file:
        report = json.load(file)
    results = [{"program": "sibyl-trainer", "seconds": wall, "cpu_seconds": cpu, "pairs": report["pairs"],
                "model": f"{workspace}/model"}]
    peer = [python, "-c", PEER, options.model, workspace, str(parameters["seed"]), str(parameters["epochs"])]
    theirs = json.loads(timed(peer, environment)[0])
    results.append({"program": "sentence-transformers", **theirs, "model": f"{workspace}/peer-model"})
    for result in results:
        score = json.loads(timed([python, "-c", EVALUATE, evaluation, result.pop("model")], environment)[0])
        result.update(ndcg_at_10=round(score, 4), reached=score >= options.goal,
                      pairs_per_cpu_second=round(result["pairs"] / result["cpu_seconds"], 2),
                      seconds=round(result["seconds"], 1), cpu_seconds=round(result["cpu_seconds"], 1))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trainer", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--goal", type=float, default=0.70, help="nDCG@10 to reach")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=JSON", help="a parameter of sibyl-trainer")
    parser.add_argument("--epochs", type=int, default=PARAMETERS["epochs"])
    options = parser.parse_args()
    given = {name: json.loads(value) for name, value in (item.split("=", 1) for item in options.set)}
    python = peers.environment("sentence-transformers-train",
                               ["sentence-transformers[train]==6.2.0", "torch==2.15.0"])
    wall, cpu = [], []
    for number in range(options.rounds):
        parameters = {**PARAMETERS, "epochs": options.epochs, "seed": number + 1, **given}
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = one_round(options, python, parameters, folder)
        for result in (ours, theirs):
            peers.report(round=number, **result)
        wall.append(ours["seconds"] / theirs["seconds"])
        cpu.append(ours["cpu_seconds"] / theirs["cpu_seconds"])
    peers.report(wall_ratio=peers.spread(wall), cpu_ratio=peers.spread(cpu), parameters=parameters)


if __name__ == "__main__":
    main()
