"""Jobs from data to registered model, with the real trainer on tiny data."""
import json
import os
import signal
import subprocess
import time

from harness import BERT, PROGRAM, CliTest, main

TOPICS = ["lamp", "chair", "table", "shelf", "carpet", "mirror", "window", "door", "stove", "clock", "kettle", "piano"]


class Training(CliTest):
    def setUp(self):
        super().setUp()
        self.texts = self.write_rows("texts.jsonl", [
            {"id": f"d-{topic}-{i}", "title": f"Care of the {topic} number {i}",
             "text": f"The {topic} of model {i} is cleaned with water. Every {topic} is checked in spring. "
                     f"A broken {topic} is repaired by the shop."} for topic in TOPICS for i in range(6)])
        self.pairs = self.write_rows("pairs.jsonl", [
            {"question": f"How do I clean {topic} {i} {form}?", "answer_id": f"d-{topic}-{i}"}
            for topic in TOPICS for i in range(6) for form in ("well", "fast")])

    def test_a_table_from_nothing_is_trained_published_and_answers(self):
        done = self.sibyl("train", "supervised", "--pairs", self.pairs, "--texts", self.texts, "--base",
                          "static_custom", "--name", "house", "--set", "cold_epochs=2", "--set", "epochs=2", "--set",
                          "dimension=32", "--device", "cpu", timeout_s=500)
        self.assertEqual((done.out + done.err).count("published as house@1"), 1)
        self.assertIn("published as house@1", done.out)
        self.assertIn("nDCG@10", done.out)
        self.assertIn("device: cpu", done.err)
        self.sibyl("add", "c", self.texts, "--model", "house")
        self.assertEqual(self.sibyl_json("ask", "c", "repair a broken piano")["model"], "house@1")
        job = self.sibyl_json("jobs", "list")["jobs"][0]
        self.assertEqual((job["state"], job["model"]), ("done", "house@1"))
        self.assertTrue(self.sibyl("jobs", "logs", job["id"]).out)
        provenance = self.sibyl_json("models", "show", "house")["provenance"]
        self.assertTrue(provenance["pipelines"])

    def test_a_transformer_through_a_job_file_and_its_plan(self):
        self.sibyl("models", "import", BERT, "--name", "tiny")
        self.sibyl("add", "c", self.texts, "--model", "tiny")
        job = self.write("job.yaml", "kind: supervised\nname: tuned\ndata: {pairs: pairs.jsonl, collection: c}\n"
                         "base: tiny\ntest_mode: true\ndevice: cpu\ndeploy: {collection: c}\n")
        plan = self.sibyl_json("train", job, "--dry-run")
        self.assertEqual(plan["base"], {"name": "tiny", "kind": "transformer"})
        self.assertTrue(all(p["reason"] for p in plan["parameters"]))
        lines = [json.loads(line) for line in self.sibyl("--json", "train", job, timeout_s=500).out.splitlines()]
        self.assertEqual(lines[-1]["job"]["state"], "done")
        self.assertTrue(any(line.get("event") == "device" for line in lines))
        self.assertEqual(self.sibyl_json("collections", "show", "c")["settings"]["model"], "tuned@1")

    def test_a_base_that_is_not_there_is_refused(self):
        done = self.sibyl("train", "coldstart", "--texts", self.texts, "--base", "nobody", "--name", "x", expect=66)
        self.assertIn("nobody", done.err)

    def test_an_interrupted_job_is_resumed(self):
        command = [PROGRAM, "--data", self.data, "--json", "train", "coldstart", "--texts", self.texts, "--base",
                   "static_custom", "--name", "slow", "--set", "cold_epochs=1000", "--set", "patience=0", "--set",
                   "dimension=16", "--device", "cpu"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for line in process.stdout:
            if json.loads(line).get("event") == "progress":
                break
        process.send_signal(signal.SIGTERM)
        start = time.time()
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 75)
        self.assertLess(time.time() - start, 45)
        job = self.sibyl_json("jobs", "list")["jobs"][0]
        self.assertEqual(job["state"], "interrupted")
        done = self.sibyl("jobs", "resume", job["id"], timeout_s=500)
        self.assertIn("published as slow@1", done.out)

    def test_a_gpu_that_is_asked_for_and_not_there(self):
        if os.path.exists("/dev/nvidiactl"):
            self.skipTest("a GPU is there")
        done = self.sibyl("train", "coldstart", "--texts", self.texts, "--base", "static_custom", "--name", "x",
                          "--device", "cuda", expect=69, timeout_s=300)
        self.assertIn("cuda", done.err.lower())

    def test_a_job_of_kind_evaluate(self):
        self.sibyl("models", "import", BERT, "--name", "tiny")
        job = self.write("job.yaml", "kind: evaluate\nbase: tiny\ndata: {texts: texts.jsonl}\n"
                         "evaluate: {questions: pairs.jsonl, fit_weights: false}\n")
        self.assertIn("bm25", self.sibyl("evaluate", job, timeout_s=300).out)


if __name__ == "__main__":
    main()
