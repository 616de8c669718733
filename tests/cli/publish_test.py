"""The step publish: a trained model into the registry of its owner, on this machine or over the network."""
import hashlib
import http.server
import json
import os
import shutil
import sys
import threading
import urllib.error
import urllib.request

from harness import BERT, CliTest, main

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "objects"))
import s3_double  # noqa: E402


class Publish(CliTest):
    def setUp(self):
        super().setUp()
        # A workspace whose training is done, its model with the sibyl.json of a written model.
        self.workspace = self.path("workspace")
        trained = self.path("trained")
        self.sibyl("models", "import", BERT, "--name", "tiny", data=trained)
        self.sibyl("models", "export", "tiny", self.path("exported"), data=trained)
        os.makedirs(os.path.join(self.workspace, "done"))
        shutil.move(self.path("exported"), os.path.join(self.workspace, "model"))
        self.write("workspace/job.json", json.dumps(
            {"format": 1, "kind": "supervised", "name": "house"}))
        self.write("workspace/done/train", "")

    def ask(self, address, path, body=None):
        request = urllib.request.Request(f"http://{address}{path}", data=body and json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.load(reply)

    def publish(self, server, **options):
        return self.sibyl("step", "publish", "--workspace", self.workspace, "--server", server, **options)

    def test_over_the_network_the_files_are_uploaded(self):
        _, address = self.serve()
        self.publish(f"http://{address}")
        self.assertEqual(json.loads(self.read("workspace/report/publish.json")), {"model": "house@1", "version": "1"})
        model = self.ask(address, "/v1/models/house")
        with open(os.path.join(self.workspace, "model", "sibyl.json"), encoding="utf-8") as file:
            written = json.load(file)["checksums"]
        self.assertEqual(model["provenance"]["checksums"], written)
        self.assertIn("1_Pooling/config.json", written)
        vector = self.ask(address, "/v1/embeddings", {"model": "house", "input": "tea"})
        self.assertEqual(len(vector["data"][0]["embedding"]), model["dimension"])

    def test_a_publish_that_was_cut_off_behind_the_import_makes_no_second_version(self):
        _, address = self.serve()
        socket = json.loads(self.read("data/lock"))["socket"]
        for server in (f"http://{address}", f"http://{address}", f"unix:{socket}"):
            self.publish(server)
            os.remove(self.path("workspace/done/publish"))
        self.assertEqual([m["id"] for m in self.ask(address, "/v1/models")["data"]], ["house"])
        self.assertEqual(self.ask(address, "/v1/models/house")["version"], 1)

    def uploads(self, address):
        """When each was uploaded; sibyl.json lists the others and not itself, so it is sent each time."""
        with open(self.path("workspace/model/sibyl.json"), "rb") as file:
            itself = hashlib.sha256(file.read()).hexdigest()
        return {upload["id"]: upload["created"] for upload in self.ask(address, "/v1/uploads")["uploads"]
                if not upload["id"].startswith(itself)}

    def test_what_was_uploaded_is_not_uploaded_again(self):
        _, address = self.serve()
        self.publish(f"http://{address}")
        before = self.uploads(address)
        self.assertGreater(len(before), 3)
        urllib.request.urlopen(urllib.request.Request(f"http://{address}/v1/models/house", method="DELETE"))
        os.remove(self.path("workspace/done/publish"))
        self.publish(f"http://{address}")
        self.assertEqual(self.uploads(address), before)
        self.assertEqual(self.ask(address, "/v1/models/house")["version"], 2)

    def test_with_a_store_the_model_lies_there_under_the_same_version(self):
        url, store = s3_double.start()
        env = {"AWS_ENDPOINT_URL": url, "AWS_REGION": "eu-test-1", "AWS_ACCESS_KEY_ID": "test-key",
               "AWS_SECRET_ACCESS_KEY": "test-secret", "SIBYL_STORE": "s3://bucket/prefix"}
        _, address = self.serve()
        self.publish(f"http://{address}", env=env)
        self.assertEqual(json.loads(self.read("workspace/report/publish.json")),
                         {"model": "house@1", "version": "1", "uri": "s3://bucket/prefix/models/house/1"})
        stored = json.loads(store.objects["bucket/prefix/models/house/1/sibyl.json"][0])
        self.assertEqual((stored["name"], stored["version"]), ("house", "1"))
        for path, checksum in stored["checksums"].items():
            body = store.objects[f"bucket/prefix/models/house/1/{path}"][0]
            self.assertEqual(hashlib.sha256(body).hexdigest(), checksum)
        # Without an answer server the store is enough.
        os.remove(self.path("workspace/done/publish"))
        self.sibyl("step", "publish", "--workspace", self.workspace, env=env)
        self.assertEqual(len([k for k in store.objects if k.endswith("/claim")]), 1)

    def test_a_published_model_is_imported_by_its_address(self):
        url, store = s3_double.start()
        env = {"AWS_ENDPOINT_URL": url, "AWS_REGION": "eu-test-1", "AWS_ACCESS_KEY_ID": "test-key",
               "AWS_SECRET_ACCESS_KEY": "test-secret", "SIBYL_STORE": "s3://bucket/prefix"}
        self.sibyl("step", "publish", "--workspace", self.workspace, env=env)
        store.objects["bucket/prefix/models/house/current"] = (b'{"version": "1"}', '"e"', {})
        where = "s3://bucket/prefix/models/house"
        for address in (f"{where}/1", f"{where}/current"):
            self.assertEqual(self.sibyl_json("models", "import", address, env=env)["name"], "house")
        # From an answer server, under another name, through a server of our own.
        with open(self.path("keys.jsonl"), "w", encoding="utf-8") as file:
            file.write(json.dumps({"name": "t", "sha256": hashlib.sha256(b"secret").hexdigest()}) + "\n")
        _, source = self.serve("--api-keys", self.path("keys.jsonl"))
        other = self.path("other")
        got = self.sibyl_json("models", "import", f"http://{source}/v1/models/house/current", "--name", "copy",
                              data=other, env={"SIBYL_API_KEY": "secret"})
        self.assertEqual((got["id"], got["default"]), ("copy", True))
        self.assertEqual(got["provenance"]["checksums"], self.sibyl_json("models", "show", "house")["provenance"]["checksums"])
        # A file that is not what sibyl.json says, an address that leads nowhere, a wrong key.
        store.objects["bucket/prefix/models/house/1/model.safetensors"] = (b"x", '"e"', {})
        self.assertIn("model.safetensors", self.sibyl("models", "import", f"{where}/1", env=env, data=other, expect=65).err)
        self.assertIn("gone", self.sibyl("models", "import", f"{where}/gone", env=env, data=other, expect=66).err)
        self.sibyl("models", "import", f"http://{source}/v1/models/house/1", data=other, expect=69)
        self.assertEqual(len(self.sibyl_json("models", "list", data=other)["data"]), 1)

    def test_a_key_goes_only_where_commands_on_the_own_machine_say(self):
        heard = []

        class Heard(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                heard.append(self.headers.get("Authorization"))
                self.send_error(404)

            def log_message(self, *_):
                pass

        listener = http.server.HTTPServer(("127.0.0.1", 0), Heard)
        threading.Thread(target=listener.serve_forever, daemon=True).start()
        self.addCleanup(listener.shutdown)
        uri = f"http://127.0.0.1:{listener.server_port}/m"
        env = {"SIBYL_API_KEY": "secret"}
        self.sibyl("models", "import", uri, env=env, expect=66)
        self.assertEqual(set(heard), {"Bearer secret"})
        heard.clear()
        _, address = self.serve(env=env)
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.ask(address, "/v1/models", {"name": "m", "uri": uri})
        self.assertEqual(refused.exception.code, 404)
        self.assertEqual(set(heard), {None})

    def test_a_base_of_the_registry_is_downloaded_from_another_machine(self):
        _, address = self.serve()
        self.publish(f"http://{address}")
        self.write_rows("job2/pairs.jsonl", [
            {"question": f"What about number {i}?", "answer": f"Number {i} is here. It follows the one before."}
            for i in range(30)])
        job = {"kind": "supervised", "name": "next", "base": "house", "data": {"pairs": "pairs.jsonl"}}
        self.sibyl("step", "prepare", "--workspace", self.path("job2"), "--server", f"http://{address}",
                   env={"SIBYL_JOB": json.dumps(job)})
        with open(self.path("workspace/model/model.safetensors"), "rb") as file:
            weights = file.read()
        with open(self.path("job2/base/model.safetensors"), "rb") as file:
            self.assertEqual(file.read(), weights)

    def test_a_file_that_is_not_what_sibyl_json_says_is_refused(self):
        _, address = self.serve()
        with open(self.path("workspace/model/1_Pooling/config.json"), "a", encoding="utf-8") as file:
            file.write(" ")
        error = self.publish(f"http://{address}", expect=65).err
        self.assertIn("1_Pooling/config.json", error)
        self.assertEqual(self.ask(address, "/v1/models")["data"], [])


if __name__ == "__main__":
    main()
