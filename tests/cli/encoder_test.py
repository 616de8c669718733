"""A model that is served elsewhere: there from the start, late, away for a while, replaced by another version."""
import hashlib
import http.client
import http.server
import json
import math
import struct
import subprocess
import threading
import time
import urllib.request

from harness import BERT, PROGRAM, CliTest, free_port, main

ROWS = [
    {"id": "tea", "title": "Green tea", "text": "Brew green tea at eighty degrees and wait two minutes."},
    {"id": "bread", "title": "Rye bread", "text": "Bake rye bread for an hour and let it rest over night."},
    {"id": "soup", "title": "Onion soup", "text": "Fry the onions slowly, then add broth and wine."},
]


def vector_of(text, version):
    """Words hashed into a few dimensions; other ones for each version."""
    vector = [0.01] * 16
    for word in text.lower().replace(".", "").split():
        vector[hashlib.sha256(f"{version} {word}".encode()).digest()[0] % 16] += 1
    length = math.sqrt(sum(x * x for x in vector))
    return [x / length for x in vector]


class ModelDouble:
    """Seldon's and Open Inference's REST protocols on one port; `version` may change at any time."""

    def __init__(self, port, version="1"):
        double = self
        self.version, self.calls, self.fail_with, self.broken = version, 0, None, None

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                double.calls += 1
                double.authorization = self.headers.get("Authorization")
                reply, headers = double.reply(self.path, body)
                self.send_response(double.fail_with or 200)
                for name, value in {**headers, "Content-Length": str(len(reply))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(reply)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def reply(self, path, body):
        if self.fail_with or self.broken is not None:
            return (self.broken or b"{}"), {}
        if path == "/api/v1.0/predictions":
            rows = [[vector_of(row[0], self.version)] for row in body["data"]["ndarray"]]
            tags = {"model": "desk", "version": self.version}
            return json.dumps({"data": {"names": ["vector"], "ndarray": rows}, "meta": {"tags": tags}}).encode(), {}
        assert path == "/v2/models/desk/infer", path
        vectors = [vector_of(text, self.version) for text in body["inputs"][0]["data"]]
        raw = b"".join(struct.pack("<16f", *vector) for vector in vectors)
        assert body["outputs"][0]["parameters"]["binary_data"] is True
        output = {"name": "vector", "datatype": "FP32", "shape": [len(vectors), 16],
                  "parameters": {"binary_data_size": len(raw)}}
        head = json.dumps({"model_name": "desk", "model_version": self.version, "outputs": [output]}).encode()
        return head + raw, {"Inference-Header-Content-Length": str(len(head))}

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class ServedElsewhere(CliTest):
    def double(self, port, **options):
        double = ModelDouble(port, **options)
        self.addCleanup(double.close)
        return double

    def call(self, address, method, path, body=None):
        request = urllib.request.Request(f"http://{address}{path}", json.dumps(body).encode() if body is not None else None,
                                         {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.loads(reply.read())

    def ask(self, address, question, pipeline="document", collection="c"):
        return self.call(address, "POST", f"/v1/collections/{collection}/query",
                         {"question": question, "pipeline": pipeline, "explain": True})

    def wait(self, what, true):
        end = time.monotonic() + 60
        while not true():
            self.assertLess(time.monotonic(), end, f"{what}\n{self.read('server.log')[-3000:]}")
            time.sleep(0.1)

    def model_of(self, address):
        return self.call(address, "GET", "/v1/collections/c")["settings"]["model"]


class Encoder(ServedElsewhere):
    def test_the_model_comes_later_and_nothing_is_lost(self):
        port = free_port()
        _, address = self.serve("--encoder", f"desk=seldon+http://127.0.0.1:{port}")
        added = self.call(address, "POST", "/v1/collections/c/documents", ROWS)
        self.assertEqual(added["added"], 3)
        reply = self.ask(address, "how is rye bread baked?")
        self.assertEqual(reply["answers"][0]["id"], "bread")
        self.assertIn("not there yet", reply["notice"])
        self.double(port, version="7")
        self.wait("vectors", lambda: self.model_of(address) == "desk@7")
        reply = self.ask(address, "how is rye bread baked?")
        self.assertNotIn("notice", reply)
        self.assertEqual((reply["pipeline"], reply["model"]), ("document", "desk@7"))
        best = {a["id"]: a["retrievals"]["document"]["score"] for a in reply["answers"]}
        query = vector_of("how is rye bread baked?", "7")
        text = "Rye bread\nBake rye bread for an hour and let it rest over night."
        expected = sum(a * b for a, b in zip(query, vector_of(text, "7")))
        self.assertAlmostEqual(best["bread"], expected, delta=2e-2)

    def test_a_model_that_goes_and_another_version_that_comes(self):
        port = free_port()
        double = self.double(port)
        _, address = self.serve("--encoder", f"desk=v2+http://127.0.0.1:{port}")
        self.call(address, "POST", "/v1/collections/c/documents", ROWS[:2])
        self.assertEqual(self.model_of(address), "desk@1")
        self.assertNotIn("notice", self.ask(address, "green tea"))
        double.fail_with = 503
        reply = self.ask(address, "green tea")
        self.assertTrue(reply["without_model"])
        self.assertEqual(reply["answers"][0]["id"], "tea")
        self.call(address, "POST", "/v1/collections/c/documents", ROWS[2:])
        self.assertEqual(self.ask(address, "onion soup", "bm25")["answers"][0]["id"], "soup")
        double.version, double.fail_with = "2", None
        self.wait("the other version", lambda: self.model_of(address) == "desk@2")
        reply = self.ask(address, "onion soup")
        self.assertNotIn("notice", reply)
        self.assertEqual(reply["answers"][0]["id"], "soup")
        metrics = urllib.request.urlopen(f"http://{address}/metrics", timeout=60).read().decode()
        for name in ("calls_total", "retries_total", "other_version_total", "circuit_open"):
            self.assertIn(f"sibyl_remote_encoder_{name}{{model=\"desk\"", metrics)

    def test_it_is_listed_and_commands_without_a_server_know_that_it_is_elsewhere(self):
        port, absent = free_port(), free_port()
        self.double(port)
        self.sibyl("models", "import", BERT, "--name", "desk")
        process, address = self.serve("--encoder", f"desk=v2+http://127.0.0.1:{port}",
                                      "--encoder", f"late=seldon+http://127.0.0.1:{absent}")
        self.call(address, "PUT", "/v1/collections/c", {"model": "desk"})
        self.call(address, "POST", "/v1/collections/c/documents", ROWS[:2])
        listed = {m["id"]: m for m in self.call(address, "GET", "/v1/models")["data"]}
        self.assertEqual(set(listed), {"desk@1", "desk", "late"})
        desk = listed["desk"]
        self.assertEqual((desk["version"], desk["dimension"], desk["served"], desk["answers"]), ("1", 16, True, True))
        self.assertEqual((listed["late"]["answers"], "version" in listed["late"]), (False, False))
        self.assertNotIn("address", desk)
        text = self.sibyl("models", "list").out
        self.assertIn(f"at http://127.0.0.1:{port}/v2/models/desk/infer", text)
        self.assertIn("does not answer", text)
        self.assertEqual(self.call(address, "GET", "/v1/models/late")["kind"], "served")
        process.terminate()
        process.wait(60)
        # Its copy here is another model; and there is nobody to ask.
        reply = self.sibyl_json("ask", "c", "green tea", "--pipeline", "document")
        self.assertEqual((reply["answers"][0]["id"], reply["without_model"]), ("tea", True))
        self.assertIn("--encoder desk=", reply["notice"])
        self.sibyl("add", "c", self.write_rows("more.jsonl", ROWS[2:]))
        self.sibyl("models", "use", "c", "desk@1", expect=69)
        _, address = self.serve("--encoder", f"desk=v2+http://127.0.0.1:{port}")
        self.wait("the vectors of what came meanwhile", lambda: "without_model" not in self.ask(address, "onion soup"))
        self.wait("its row", lambda: self.ask(address, "onion soup")["answers"][0]["id"] == "soup")

    def test_hostile_replies_leave_bm25(self):
        port = free_port()
        double = self.double(port)
        _, address = self.serve("--encoder", f"desk=v2+http://127.0.0.1:{port}")
        self.call(address, "POST", "/v1/collections/c/documents", ROWS)
        nan = json.dumps({"model_name": "desk", "model_version": "1", "outputs": [
            {"name": "vector", "datatype": "FP32", "shape": [1, 2], "data": [1, 1e99]}]}).encode()
        for body in (b"{", b"\xff" * 5000, b"[" * 100000, nan, b"<html>"):
            double.broken = body
            reply = self.ask(address, "green tea")
            self.assertTrue(reply["without_model"])
            self.assertEqual(reply["answers"][0]["id"], "tea")

    def test_a_key_is_sent_and_never_logged(self):
        port = free_port()
        double = self.double(port)
        log = self.path("server.log")
        with open(log, "ab") as file:
            process = subprocess.Popen(
                [PROGRAM, "--data", self.data, "serve", "--http", f"127.0.0.1:{free_port()}", "--grpc", "",
                 "--encoder", f"desk=seldon+http://127.0.0.1:{port}"],
                stdout=file, stderr=file, env={"PATH": "/usr/bin:/bin", "SIBYL_ENCODER_API_KEY": "hunter2hunter2"})
        self.addCleanup(process.wait, 60)
        self.addCleanup(process.terminate)
        self.wait("a look", lambda: double.calls > 0)
        self.assertEqual(double.authorization, "Bearer hunter2hunter2")
        self.assertNotIn("hunter2", self.read("server.log"))

    def test_wrong_addresses_are_refused(self):
        for text, status, word in (
                ("desk", 64, "NAME="), ("desk=v2+models:80", 64, "http://"), ("desk=openai+http://h", 69, "openai"),
                ("desk=v2+http://me:hunter2@h:80", 64, "SIBYL_ENCODER_API_KEY")):
            error = self.sibyl("serve", "--http", "127.0.0.1:0", "--encoder", text, expect=status).err
            self.assertIn(word, error)
            self.assertNotIn("hunter2", error)


class TwoPrograms(ServedElsewhere):
    """A model server and an answer server against one program that holds the model itself."""

    def serve_model(self):
        port = free_port()
        log = open(self.path("model.log"), "ab")
        self.addCleanup(log.close)
        process = subprocess.Popen(
            [PROGRAM, "serve", "--role", "models", "--http", f"127.0.0.1:{port}", "--grpc", "", "--model", f"desk={BERT}"],
            stdout=log, stderr=log)
        self.addCleanup(process.wait, 60)
        self.addCleanup(process.terminate)
        self.model_server = process
        end = time.monotonic() + 60
        while time.monotonic() < end:
            self.assertIsNone(process.poll(), self.read("model.log"))
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health/ready", timeout=5)
                return port
            except OSError:
                time.sleep(0.05)
        self.fail("the model server did not start")

    def test_answers_are_those_of_a_model_at_home(self):
        port = self.serve_model()
        rows = self.write_rows("rows.jsonl", ROWS)
        home = self.path("home")
        self.sibyl("models", "import", BERT, "--name", "desk", data=home)
        self.sibyl("add", "c", rows, data=home)
        questions = ["how is rye bread baked?", "onions", "two minutes", ""]
        at_home = [self.sibyl_json("ask", "c", q, "--pipeline", "document", data=home)["answers"]
                   for q in questions if q]
        for kind in ("seldon", "v2"):
            data = self.path(kind)
            _, address = self.serve("--encoder", f"desk={kind}+http://127.0.0.1:{port}", data=data)
            self.sibyl("add", "c", rows, data=data)
            self.assertEqual(self.model_of(address), "desk@1")
            for question, expected in zip(questions, at_home):
                reply = self.ask(address, question)
                self.assertNotIn("notice", reply)
                self.assertEqual([a["id"] for a in reply["answers"]], [a["id"] for a in expected])
                for ours, theirs in zip(reply["answers"], expected):
                    self.assertAlmostEqual(ours["score"], theirs["score"], delta=1e-5)

    def test_messages_of_a_model_server_have_a_bound_of_their_own(self):
        port = self.serve_model()
        for size, status in ((64 << 20, 400), ((64 << 20) + 1, 413)):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            self.addCleanup(connection.close)
            connection.putrequest("POST", "/v2/models/desk/infer")
            connection.putheader("Content-Length", str(size))
            connection.endheaders()
            if status == 400:
                connection.send(b" " * size)
            self.assertEqual(connection.getresponse().status, status)

    def test_a_copy_at_home_stands_in_when_the_model_server_is_gone(self):
        port = self.serve_model()
        self.sibyl("models", "import", BERT, "--name", "desk")
        _, address = self.serve("--encoder", f"desk=v2+http://127.0.0.1:{port}")
        self.call(address, "POST", "/v1/collections/c/documents", ROWS)
        before = self.ask(address, "how is rye bread baked?")
        self.model_server.terminate()
        self.model_server.wait(60)
        after = self.ask(address, "how is rye bread baked?")
        self.assertNotIn("notice", after)
        for ours, theirs in zip(after["answers"], before["answers"]):
            self.assertEqual(ours["id"], theirs["id"])
            self.assertAlmostEqual(ours["score"], theirs["score"], delta=1e-5)
        metrics = urllib.request.urlopen(f"http://{address}/metrics", timeout=60).read().decode()
        self.assertIn("sibyl_remote_encoder_copy_used_total", metrics)


if __name__ == "__main__":
    main()
