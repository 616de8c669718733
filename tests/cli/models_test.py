"""The registry, encoding, and switching a collection's model."""
import array
import json
import math
import os
import shutil
import struct

from harness import BERT, STATIC, CliTest, main


class Models(CliTest):
    def test_import_list_default_export_delete(self):
        first = self.sibyl_json("models", "import", BERT, "--name", "tiny")
        self.assertEqual((first["name"], str(first["version"]), first["default"]), ("tiny", "1", True))
        self.sibyl("models", "import", STATIC)
        self.assertEqual(str(self.sibyl_json("models", "import", BERT, "--name", "tiny")["version"]), "2")
        listed = self.sibyl("models", "list").out
        self.assertIn("tiny", listed)
        self.assertIn("static", listed)
        self.sibyl("models", "default", "static")
        self.assertTrue(self.sibyl_json("models", "show", "static")["default"])
        self.sibyl("models", "export", "tiny@1", self.path("copy"))
        self.assertTrue(os.path.exists(self.path("copy/model.safetensors")))
        self.sibyl("models", "export", "tiny@1", self.path("copy"), expect=65)
        self.sibyl("models", "delete", "tiny@1")
        self.sibyl("models", "show", "tiny@1", expect=66)
        self.sibyl("models", "show", "nobody", expect=66)

    def test_what_is_no_model_is_refused_and_leaves_nothing(self):
        self.sibyl("models", "import", self.path("nowhere"), expect=66)
        self.write("empty/readme.txt", "no model")
        self.sibyl("models", "import", self.path("empty"), "--name", "x", expect=65)
        self.assertEqual(self.sibyl_json("models", "list")["data"], [])

    def lying_copy(self, change):
        shutil.copytree(BERT, self.path("broken"))
        change(self.path("broken"))
        return self.path("broken")

    def test_a_safetensors_file_with_lying_offsets(self):
        def lie(folder):
            path = os.path.join(folder, "model.safetensors")
            with open(path, "rb") as file:
                content = file.read()
            length = struct.unpack("<Q", content[:8])[0]
            header = json.loads(content[8:8 + length])
            name = next(key for key in header if key != "__metadata__")
            header[name]["data_offsets"][1] += 1 << 40
            text = json.dumps(header).encode()
            with open(path, "wb") as file:
                file.write(struct.pack("<Q", len(text)) + text + content[8 + length:])

        error = self.sibyl("models", "import", self.lying_copy(lie), "--name", "x", expect=65).err
        self.assertIn("safetensors", error)

    def test_a_tokenizer_with_missing_pieces(self):
        def cut(folder):
            path = os.path.join(folder, "tokenizer.json")
            with open(path, encoding="utf-8") as file:
                tokenizer = json.load(file)
            del tokenizer["model"]["vocab"]
            with open(path, "w", encoding="utf-8") as file:
                json.dump(tokenizer, file)

        error = self.sibyl("models", "import", self.lying_copy(cut), "--name", "x", expect=65).err
        self.assertIn("vocab", error)

    def test_encode_gives_a_vector_a_line_in_every_form(self):
        self.sibyl("models", "import", BERT, "--name", "tiny")
        texts = ["first text", "", "a second one"]
        plain = self.sibyl("encode", "--model", "tiny", stdin="\n".join(texts).encode() + b"\n").out.splitlines()
        self.assertEqual(len(plain), 3)
        rows = "".join(json.dumps({"text": text}) + "\n" for text in texts).encode()
        as_json = [json.loads(line)["vector"]
                   for line in self.sibyl("--json", "encode", "--model", "tiny", stdin=rows).out.splitlines()]
        for line, vector in zip(plain, as_json):
            for a, b in zip(line.split(), vector):
                self.assertAlmostEqual(float(a), b, places=6)
        self.assertFalse(any(math.isnan(x) for vector in as_json for x in vector))
        self.sibyl("encode", "--npy", self.path("a.npy"), stdin="\n".join(texts).encode() + b"\n")
        with open(self.path("a.npy"), "rb") as file:
            content = file.read()
        self.assertEqual(content[:6], b"\x93NUMPY")
        self.assertIn(f"'shape': (3, {len(as_json[0])})", content[:128].decode("latin-1"))
        values = array.array("f", content[128:])
        self.assertEqual(len(values), 3 * len(as_json[0]))
        self.assertAlmostEqual(values[0], as_json[0][0], places=6)
        self.sibyl("--json", "encode", "--model", "tiny", stdin=b"not json\n", expect=65)
        self.sibyl("encode", "--model", "nobody", stdin=b"x\n", expect=66)

    def test_a_collection_switches_and_goes_back(self):
        self.sibyl("models", "import", BERT, "--name", "tiny")
        self.sibyl("models", "import", STATIC, "--name", "table")
        self.sibyl("add", "c", self.write_rows("rows.jsonl", [{"id": "a", "text": "One text."}]), "--model", "tiny")
        self.sibyl("models", "use", "c", "table")
        self.assertEqual(self.sibyl_json("collections", "show", "c")["settings"]["model"], "table@1")
        self.sibyl("models", "rollback", "c")
        self.assertEqual(self.sibyl_json("collections", "show", "c")["settings"]["model"], "tiny@1")
        self.sibyl("models", "use", "c", "nobody", expect=66)
        self.sibyl("models", "use", "nothing", "tiny", expect=66)
        self.sibyl("models", "delete", "tiny", expect=65)


if __name__ == "__main__":
    main()
