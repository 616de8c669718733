"""Hostile and broken input: a clear message, the right exit code, nothing lost."""
import gzip
import json
import os
import resource
import subprocess
import time

from harness import PROGRAM, CliTest, main


class BadInput(CliTest):
    def setUp(self):
        super().setUp()
        self.sibyl("add", "kept", self.write_rows("kept.jsonl", [{"id": "k", "text": "This stays."}]))

    def tearDown(self):
        # Whatever was refused: what was there before still answers.
        self.assertEqual(self.sibyl_json("documents", "get", "kept", "k")["text"], "This stays.")

    def refused(self, name, content, *words, expect=65):
        error = self.sibyl("add", "kept", self.write(name, content), expect=expect).err
        for word in words:
            self.assertIn(word, error)
        return error

    def test_empty_file(self):
        self.refused("empty.jsonl", b"", "empty.jsonl")
        self.refused("empty.txt", b"", "empty.txt")
        self.refused("empty.html", b"", "empty.html")
        self.refused("empty.csv", b"", "empty.csv")

    def test_file_of_zeros(self):
        for name in ("zeros.txt", "zeros.html", "zeros.jsonl", "zeros.csv", "zeros.md", "zeros.pdf", "zeros.txt.gz"):
            self.refused(name, bytes(100_000), name)

    def test_a_line_of_a_gigabyte(self):
        path = self.path("long.jsonl")
        with open(path, "wb") as file:
            file.write(b'{"text": "')
            file.truncate(1 << 30)
            file.seek(0, os.SEEK_END)
            file.write(b'"}\n{"id": "b", "text": "The next line."}\n')

        def limit_memory():
            resource.setrlimit(resource.RLIMIT_AS, (3 << 29, 3 << 29))

        done = subprocess.run([PROGRAM, "--data", self.data, "add", "other", path, "--max-bad", "1"],
                              capture_output=True, timeout=300, preexec_fn=limit_memory)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"long.jsonl line 1", done.stderr)
        self.assertEqual(self.sibyl_json("documents", "get", "other", "b")["text"], "The next line.")
        self.sibyl("add", "kept", path, expect=65)

    def test_invalid_utf8_in_rows_is_named(self):
        self.refused("bad.jsonl", b'{"text": "fine"}\n{"text": "caf\xe9"}\n', "bad.jsonl line 2")

    def test_text_that_is_not_utf8_is_read_as_windows_1252(self):
        self.sibyl("add", "latin", self.write("latin.txt", "Der Fluß fließt über Steine.".encode("cp1252")))
        self.assertEqual(self.sibyl_json("documents", "get", "latin", "latin.txt")["text"].strip(),
                         "Der Fluß fließt über Steine.")

    def test_truncated_gzip(self):
        whole = gzip.compress(b"".join(b'{"text": "row %d with some words"}\n' % i for i in range(5000)))
        self.refused("cut.jsonl.gz", whole[:len(whole) // 2], "cut.jsonl.gz")
        self.refused("cut.txt.gz", whole[:20], "cut.txt.gz")

    def test_gzip_bomb(self):
        self.refused("bomb.html.gz", gzip.compress(bytes(1 << 20)) * 1100, "bomb.html.gz")

    def test_html_of_100000_nested_tags(self):
        deep = "<div>" * 100_000 + "Deep text." + "</div>" * 100_000
        done = subprocess.run([PROGRAM, "--data", self.data, "add", "html",
                               self.write("deep.html", f"<html><body>{deep}</body></html>")],
                              capture_output=True, timeout=120)
        # Either it is read, or it is refused by name; never a crash.
        self.assertIn(done.returncode, (0, 65), done.stderr)
        if done.returncode == 65:
            self.assertIn(b"deep.html", done.stderr)

    def test_pdf_that_hangs_the_converter(self):
        self.write("bin/pdftotext", "#!/bin/sh\nsleep 1000\n")
        os.chmod(self.path("bin/pdftotext"), 0o755)
        pdf = self.write("slow.pdf", b"%PDF-1.4\n%%EOF\n")
        start = time.time()
        error = self.sibyl("add", "kept", pdf, expect=65, timeout_s=200,
                           env={"PATH": self.path("bin") + ":" + os.environ["PATH"]}).err
        self.assertIn("slow.pdf", error)
        self.assertLess(time.time() - start, 150)

    def test_pdf_without_a_converter(self):
        pdf = self.write("a.pdf", b"%PDF-1.4\n%%EOF\n")
        self.assertIn("pdftotext", self.sibyl("add", "kept", pdf, expect=69, env={"PATH": self.path("nowhere")}).err)

    def test_csv_with_a_stray_quote(self):
        self.refused("stray.csv", 'id,text\na,fine\nb,a "stray" quote\nc,fine\n', "stray.csv line 3")
        self.refused("open.csv", 'id,text\na,fine\nb,"never closed\nc,fine\n', "open.csv line 3")

    def test_duplicate_ids_in_one_call(self):
        self.refused("twice.jsonl", '{"id": "a", "text": "one"}\n{"id": "a", "text": "two"}\n', "twice.jsonl line 2",
                     "a")

    def test_wrong_rows(self):
        self.refused("rows.jsonl", '{"text": 5}\n', "text")
        self.refused("rows.jsonl", '{"title": "no text"}\n', "text")
        self.refused("rows.jsonl", "[1, 2\n", "rows.jsonl line 1")
        self.refused("rows.jsonl", '{"id": "%s", "text": "x"}\n' % ("a" * 2000), "id")
        self.refused("rows.jsonl", '{"text": %s1%s}\n' % ("[" * 5000, "]" * 5000), "rows.jsonl line 1")

    def test_max_bad_lets_the_right_rows_in(self):
        rows = self.write("some.jsonl", '{"id": "good", "text": "A good row."}\nwrong\n')
        self.sibyl("add", "some", rows, expect=65)
        self.sibyl("documents", "get", "some", "good", expect=66)
        report = self.sibyl_json("add", "some", rows, "--max-bad", "1")
        self.assertEqual((report["added"], report["failed"]), (1, 1))
        self.sibyl("documents", "get", "some", "good")

    def test_job_files(self):
        pairs = self.write_rows("pairs.jsonl", [{"question": "q", "answer": "a"}])
        job = self.write("job.yaml", f"kind: supervised\nname: a\ndata: {{pairs: {pairs}}}\ntrain:\n  epoch: 3\n")
        error = self.sibyl("train", job, expect=78).err
        self.assertIn("line 5", error)
        self.assertIn("did you mean 'epochs'", error)
        self.write("job.yaml", "kind: supervised\nname: a\ndata: {pairs: nowhere.jsonl}\n")
        self.assertIn("data.pairs", self.sibyl("train", job, expect=66).err)
        self.write("job.yaml", b"\xff\xfe\x00")
        self.sibyl("train", job, expect=78)

    def test_a_pair_whose_answer_id_does_not_exist(self):
        texts = self.write_rows("texts.jsonl", [{"id": "d1", "text": "A document."}])
        pairs = self.write_rows("pairs.jsonl", [{"question": "q", "answer_id": "d1"},
                                                {"question": "r", "answer_id": "d2"}])
        error = self.sibyl("train", "supervised", "--pairs", pairs, "--texts", texts, "--base", "static_custom",
                           "--name", "a", "--dry-run", expect=65).err
        self.assertIn("pairs.jsonl line 2", error)
        self.assertIn("d2", error)


if __name__ == "__main__":
    main()
