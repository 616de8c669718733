"""add, ask, documents, collections: with and without a model, alone and through a server."""
import gzip
import json
import os
import urllib.request

from harness import BERT, CliTest, main, strip_times

ROWS = [
    {"id": "returns", "title": "Returns", "text": "Goods are returned within thirty days. The receipt is needed.",
     "metadata": {"year": 2024, "tags": ["shop"]}},
    {"id": "shipping", "title": "Shipping", "text": "Parcels leave the warehouse on weekdays before noon.",
     "year": 2020},
    {"id": "warranty", "title": "Warranty", "text": "The warranty covers broken hinges for two years."},
]


class Documents(CliTest):
    def test_rows_are_added_asked_listed_and_deleted(self):
        rows = self.write_rows("rows.jsonl", ROWS)
        added = self.sibyl("add", "shop", rows)
        self.assertEqual(strip_times(added.out), "shop: added 3, updated 0, unchanged 0 in T\n")
        self.assertIn("BM25 alone", added.err)
        answers = self.sibyl_json("ask", "shop", "when do parcels leave the warehouse?", "--top", "2")
        self.assertEqual(answers["answers"][0]["id"], "shipping")
        self.assertIn("Shipping", self.sibyl("ask", "shop", "parcels warehouse").out)
        listed = self.sibyl("documents", "list", "shop").out.splitlines()
        self.assertEqual(listed, ["returns\tReturns", "shipping\tShipping", "warranty\tWarranty"])
        self.assertEqual(self.sibyl_json("documents", "get", "shop", "returns"), ROWS[0])
        self.sibyl("documents", "delete", "shop", "returns")
        self.sibyl("documents", "get", "shop", "returns", expect=66)
        exported = [json.loads(line) for line in self.sibyl("documents", "export", "shop").out.splitlines()]
        self.assertEqual(exported, ROWS[1:])

    def test_the_same_file_twice_changes_nothing_and_a_changed_one_replaces(self):
        rows = self.write_rows("rows.jsonl", ROWS)
        self.sibyl("add", "shop", rows)
        again = self.sibyl_json("add", "shop", rows)
        self.assertEqual((again["added"], again["updated"], again["unchanged"]), (0, 0, 3))
        self.write_rows("rows.jsonl", [{**ROWS[0], "text": "Nothing is returned."}, *ROWS[1:]])
        changed = self.sibyl_json("add", "shop", rows)
        self.assertEqual((changed["added"], changed["updated"], changed["unchanged"]), (0, 1, 2))

    def test_folders_and_every_type_of_file(self):
        self.write("texts/page.html", "<html><head><title>Page</title></head><body><nav>Menu</nav><main>"
                   "<h1>Lamps</h1><p>A lamp gives light.</p></main></body></html>")
        self.write("texts/notes.md", "# Chairs\n\nA chair has four legs.\n")
        self.write("texts/deep/plain.txt", "A table stands in the kitchen.")
        self.write("texts/rows.csv", 'id,title,text\nc1,Beds,"A bed, for sleeping"\n')
        self.write("texts/tabs.tsv", "id\ttext\nt1\tA shelf for books\n")
        self.write("texts/more.jsonl.gz", gzip.compress(b'{"text": "A sofa is soft."}\n'))
        self.write("texts/.hidden.txt", "must not be read")
        added = self.sibyl_json("add", "home", self.path("texts"))
        self.assertEqual((added["added"], added["failed"]), (6, 0))
        ids = {json.loads(line)["id"] for line in self.sibyl("--json", "documents", "list", "home").out.splitlines()}
        self.assertEqual(ids, {"page.html", "notes.md", "deep/plain.txt", "c1", "t1", "more.jsonl.gz#1"})
        self.assertEqual(self.sibyl_json("ask", "home", "light of a lamp")["answers"][0]["id"], "page.html")

    def test_standard_input_and_column_names(self):
        lines = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
        self.assertEqual(self.sibyl_json("add", "shop", "-", stdin=lines)["added"], 3)
        table = self.write("t.csv", "key,subject,body\nk1,Hats,Hats are worn on heads\n")
        added = self.sibyl_json("add", "hats", table, "--map", "id=key,title=subject,text=body")
        self.assertEqual(added["added"], 1)
        self.assertEqual(self.sibyl_json("documents", "get", "hats", "k1")["title"], "Hats")

    def test_prune_removes_what_is_gone(self):
        self.write("texts/a.txt", "First text here.")
        self.write("texts/b.txt", "Second text here.")
        self.sibyl("add", "c", self.path("texts"))
        os.remove(self.path("texts/b.txt"))
        self.assertEqual(self.sibyl_json("add", "c", self.path("texts"))["removed"], 0)
        self.assertEqual(self.sibyl_json("add", "c", self.path("texts"), "--prune")["removed"], 1)
        self.sibyl("documents", "get", "c", "b.txt", expect=66)

    def test_prune_leaves_what_came_from_elsewhere(self):
        self.write("texts/a.txt", "First text here.")
        self.write("texts/b.txt", "Second text here.")
        rows = self.write_rows("rows.jsonl", ROWS)
        self.sibyl("add", "c", self.path("texts"))
        self.sibyl("add", "c", rows)
        os.remove(self.path("texts/b.txt"))
        self.write("texts/new.txt", "Third text here.")
        refused = self.sibyl("add", "c", self.path("texts"), "--prune", expect=65).err
        self.assertIn("rows.jsonl", refused)
        self.assertIn("would remove 4 documents", refused)
        self.sibyl("documents", "get", "c", "new.txt", expect=66)
        both = self.sibyl_json("add", "c", self.path("texts"), rows, "--prune")
        self.assertEqual((both["added"], both["unchanged"], both["removed"]), (1, 4, 1))
        # Its file is gone: nothing of it is elsewhere any more.
        os.remove(rows)
        self.assertEqual(self.sibyl_json("add", "c", self.path("texts"), "--prune")["removed"], 3)
        self.sibyl("add", "c", "-", stdin=b'{"id": "in", "text": "From standard input."}')
        self.assertIn("standard input", self.sibyl("add", "c", self.path("texts"), "--prune", expect=65).err)

    def test_prune_leaves_what_other_programs_sent(self):
        self.write("texts/a.txt", "First text here.")
        self.sibyl("add", "c", self.path("texts"))
        _, address = self.serve()
        request = urllib.request.Request(f"http://{address}/v1/collections/c/documents",
                                         data=b'[{"id": "sent", "text": "Sent by a program."}]')
        with urllib.request.urlopen(request, timeout=60) as reply:
            self.assertEqual(json.load(reply)["added"], 1)
        refused = self.sibyl("add", "c", self.path("texts"), "--prune", expect=65).err
        self.assertIn("senders that named no file", refused)
        self.sibyl("documents", "get", "c", "sent")
        with urllib.request.urlopen(f"http://{address}/v1/collections/c", timeout=60) as reply:
            self.assertNotIn("origins", json.load(reply))

    def test_links(self):
        self.write("real/a.txt", "First text here.")
        os.symlink("real", self.path("link"))
        os.symlink("a.txt", self.path("real/again.txt"))
        added = self.sibyl("add", "c", self.path("link"))
        self.assertIn("added 1,", added.out)
        self.assertIn("1 symbolic links inside folders were not followed", added.err)
        # The same place by another name.
        self.assertEqual(self.sibyl_json("add", "c", self.path("real"), "--prune")["unchanged"], 1)

    def test_a_folder_without_documents(self):
        os.mkdir(self.path("empty"))
        done = self.sibyl("add", "c", self.path("empty"))
        self.assertIn("no document was found under", done.err)
        self.assertNotIn("model", done.err)

    def test_with_a_model_and_filters(self):
        self.sibyl("models", "import", BERT, "--name", "tiny")
        added = self.sibyl("add", "shop", self.write_rows("rows.jsonl", ROWS), "--model", "tiny")
        self.assertNotIn("BM25 alone", added.err)
        answers = self.sibyl_json("ask", "shop", "broken hinges", "--explain", "--pipeline", "document+bm25")
        self.assertEqual(answers["model"], "tiny@1")
        self.assertEqual(len(answers["answers"]), 3)
        self.assertIn("bm25", answers["answers"][0]["retrievals"])
        filtered = self.sibyl_json("ask", "shop", "goods parcels", "--filter", "year = 2020")
        self.assertEqual([a["id"] for a in filtered["answers"]], ["shipping"])
        self.assertIn("position", self.sibyl("ask", "shop", "x", "--filter", "year ==", expect=64).err)
        self.sibyl("add", "shop", self.path("rows.jsonl"), "--model", "other", expect=65)

    def test_collections_are_created_shown_and_dropped(self):
        self.sibyl("collections", "create", "german", "--language", "de", "--chunking", "off")
        self.sibyl("collections", "create", "german", expect=65)
        shown = self.sibyl_json("collections", "show", "german")
        self.assertEqual(shown["settings"]["language"], "de")
        self.assertEqual(shown["settings"]["chunking"], "off")
        self.sibyl("add", "german", self.write_rows("rows.jsonl", ROWS))
        self.assertIn("german", self.sibyl("collections", "list").out)
        self.sibyl("collections", "compact", "german")
        self.assertIn("health: ok", self.sibyl("collections", "show", "german").out)
        self.sibyl("collections", "cancel", "german", expect=66)
        self.sibyl("collections", "drop", "german")
        self.sibyl("collections", "show", "german", expect=66)

    def test_a_server_on_the_directory_makes_no_difference(self):
        self.sibyl("models", "import", BERT, "--name", "tiny")
        self.serve()
        added = self.sibyl_json("add", "shop", self.write_rows("rows.jsonl", ROWS))
        self.assertEqual((added["added"], added["model"]), (3, "tiny@1"))
        self.assertEqual(self.sibyl_json("ask", "shop", "broken hinges", "--pipeline", "bm25")["answers"][0]["id"],
                         "warranty")
        self.assertEqual(len(self.sibyl("documents", "export", "shop").out.splitlines()), 3)
        self.assertEqual(self.sibyl_json("doctor")["owner"], "a server")

    def test_judged_questions_give_metrics(self):
        self.sibyl("add", "shop", self.write_rows("rows.jsonl", ROWS))
        questions = self.write_rows("q.jsonl", [
            {"question": "When do parcels leave?", "answer_id": "shipping"},
            {"question": "Are broken hinges covered by the warranty?", "answer_id": "warranty"}])
        report = self.sibyl_json("evaluate", "shop", "--questions", questions)
        self.assertEqual(report["questions"], 2)
        bm25 = next(p for p in report["pipelines"] if p["pipeline"] == "bm25")
        self.assertEqual(bm25["metrics"]["P@1"]["mean"], 1.0)
        self.assertIn("nDCG@10", self.sibyl("evaluate", "shop", "--questions", questions).out)


if __name__ == "__main__":
    main()
