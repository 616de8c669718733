"""`sibyl serve --role models` as a pod runs it: environment, ports, where the model comes from, the end."""
import http.client
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time

from harness import BERT, PROGRAM, STATIC, CliTest, free_port, main

TEXTS = ["the cat sat on the mat", "", "a dog"]


class Files(http.server.SimpleHTTPRequestHandler):
    """A web server of files, as a mirror of a store would be."""
    folder = ""

    def __init__(self, *arguments):
        super().__init__(*arguments, directory=Files.folder)

    def log_message(self, *_):
        pass


class ModelServer(CliTest):
    def start(self, *arguments, env=None, http_port=None, log="models.log"):
        """The process, and the port of its HTTP; it has no data directory that it could write to."""
        file = open(self.path(log), "ab")
        self.addCleanup(file.close)
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PREDICTIVE_UNIT_")}
        process = subprocess.Popen([PROGRAM, "--data", "/nowhere/at/all", "serve", "--role", "models", *arguments],
                                   stdout=file, stderr=file, env={**clean, "TMPDIR": self.folder.name, **(env or {})})

        def stop():
            if process.poll() is None:
                process.kill()
                process.wait(60)

        self.addCleanup(stop)
        if http_port:
            self.wait_for_port(process, http_port, log)
        return process

    def wait_for_port(self, process, port, log):
        end = time.time() + 60
        while time.time() < end:
            self.assertIsNone(process.poll(), self.read(log))
            try:
                with socket.create_connection(("127.0.0.1", port), 1):
                    return
            except OSError:
                time.sleep(0.02)
        self.fail("the server did not start: " + self.read(log))

    def call(self, port, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        data = json.dumps(body) if isinstance(body, (dict, list)) else body
        connection.request(method, path, data, headers or {"Content-Type": "application/json"})
        reply = connection.getresponse()
        content = reply.read()
        connection.close()
        is_json = "json" in (reply.getheader("Content-Type") or "")
        return reply.status, json.loads(content) if is_json else content

    def flags(self):
        port = free_port()
        return port, ["--http", f"127.0.0.1:{port}", "--grpc", f"127.0.0.1:{free_port()}"]

    def ends(self, process, expect):
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), expect, self.read("models.log"))

    def refused(self, expect, *arguments, env=None):
        done = subprocess.run([PROGRAM, "serve", "--role", "models", *arguments], capture_output=True, timeout=120,
                              env={**os.environ, "TMPDIR": self.folder.name, **(env or {})})
        self.assertEqual(done.returncode, expect, done.stderr)
        return done.stderr.decode()

    def test_as_seldon_runs_it(self):
        http_port, grpc_port, metrics_port = free_port(), free_port(), free_port()
        process = self.start("--model", "helpdesk=" + BERT, http_port=http_port, env={
            "PREDICTIVE_UNIT_HTTP_SERVICE_PORT": str(http_port), "PREDICTIVE_UNIT_GRPC_SERVICE_PORT": str(grpc_port),
            "PREDICTIVE_UNIT_SERVICE_PORT": str(http_port), "PREDICTIVE_UNIT_ID": "node",
            "PREDICTIVE_UNIT_METRICS_SERVICE_PORT": str(metrics_port),
            "PREDICTIVE_UNIT_METRICS_ENDPOINT": "/prometheus",
            "PREDICTIVE_UNIT_PARAMETERS": '[{"name": "threads", "value": "1", "type": "INT"}]'})
        # The port opens when the model is there.
        self.assertEqual(self.call(http_port, "GET", "/health/status")[0], 200)
        self.wait_for_port(process, grpc_port, "models.log")
        status, reply = self.call(http_port, "POST", "/predict",
                                  {"data": {"names": ["text"], "ndarray": [[text] for text in TEXTS]}})
        self.assertEqual(status, 200, reply)
        vectors = [row[0] for row in reply["data"]["ndarray"]]
        self.assertEqual(reply["meta"]["tags"], {"model": "helpdesk", "version": "1"})
        status, reply = self.call(http_port, "POST", "/v2/models/node/infer", {"inputs": [
            {"name": "text", "datatype": "BYTES", "shape": [3], "data": TEXTS}]})
        self.assertEqual(status, 200, reply)
        self.assertEqual(reply["outputs"][0]["data"], [value for vector in vectors for value in vector])
        status, reply = self.call(http_port, "POST", "/v1/embeddings", {"model": "node", "input": TEXTS})
        self.assertEqual([row["embedding"] for row in reply["data"]], vectors)
        for port, path in ((metrics_port, "/prometheus"), (http_port, "/prometheus"), (http_port, "/metrics")):
            self.assertIn(b"sibyl_encoder_texts_total", self.call(port, "GET", path)[1])
        self.assertEqual(self.call(metrics_port, "POST", "/predict", {"strData": "a"})[0], 413)
        self.ends(process, 0)

    def test_without_seldon_the_flags_count(self):
        port, flags = self.flags()
        process = self.start("--model", "first=" + BERT, "--model", "second=" + STATIC, *flags, http_port=port)
        self.assertEqual([model["id"] for model in self.call(port, "GET", "/v1/models")[1]["data"]],
                         ["first", "second"])
        for name in ("first", "second"):
            self.assertEqual(self.call(port, "GET", f"/v2/models/{name}/ready")[0], 200)
        self.assertEqual(self.call(port, "GET", "/metadata")[1]["name"], "first")
        self.assertEqual(self.call(port, "GET", "/v2/models/third/ready")[0], 404)
        self.ends(process, 0)

    def test_running_requests_end_before_the_process(self):
        port, flags = self.flags()
        process = self.start("--model", "m=" + BERT, *flags, http_port=port)
        outcome = []

        def ask():
            outcome.append(self.call(port, "POST", "/v1/embeddings",
                                     {"model": "m", "input": ["word " * 200] * 2000})[0])

        asking = threading.Thread(target=ask)
        asking.start()
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        asking.join()
        self.assertEqual(process.wait(60), 0, self.read("models.log"))
        self.assertEqual(outcome, [200])

    def test_the_model_comes_from_an_answer_server(self):
        _, answers = self.serve("--role", "answers")
        address = f"http://{answers}/v1/models/helpdesk/current"
        self.sibyl("models", "import", STATIC, "--name", "helpdesk")
        self.sibyl("models", "import", BERT, "--name", "helpdesk")
        port, flags = self.flags()
        process = self.start("--model", "helpdesk=" + address, *flags, http_port=port)
        status, reply = self.call(port, "POST", "/v1/embeddings", {"model": "helpdesk@2", "input": TEXTS})
        self.assertEqual(status, 200, reply)
        # Nothing that was fetched is left behind.
        self.assertEqual([name for name in os.listdir(self.folder.name) if name.startswith("sibyl-")], [])
        self.ends(process, 0)
        port, flags = self.flags()
        process = self.start("--model", f"old=http://{answers}/v1/models/helpdesk/1", *flags, http_port=port)
        self.assertEqual(self.call(port, "GET", "/v1/models/old")[1]["kind"], "static")
        self.ends(process, 0)
        error = self.refused(66, "--model", f"m=http://{answers}/v1/models/absent/current")
        self.assertIn("absent", error)

    def test_the_answer_server_gives_files_of_models_and_no_others(self):
        _, answers = self.serve("--role", "answers")
        port = int(answers.rpartition(":")[2])
        self.sibyl("models", "import", BERT, "--name", "helpdesk")
        status, pointer = self.call(port, "GET", "/v1/models/helpdesk/current")
        self.assertEqual((status, pointer["version"]), (200, 1))
        status, config = self.call(port, "GET", "/v1/models/helpdesk/1/1_Pooling/config.json")
        self.assertEqual(status, 200)
        with open(os.path.join(BERT, "1_Pooling", "config.json"), "rb") as file:
            self.assertEqual(config, file.read())
        self.assertEqual(self.call(port, "GET", "/v1/models/helpdesk/1/sibyl.json")[0], 200)
        for path in ("helpdesk/1/nothing.json", "helpdesk/1/..%2F..%2Fdefault", "helpdesk/1/%2Fetc%2Fpasswd",
                     "helpdesk/1/1_Pooling", "helpdesk/9/sibyl.json", "helpdesk/current/sibyl.json", "absent/current"):
            self.assertEqual(self.call(port, "GET", "/v1/models/" + path)[0], 404, path)

    def test_fetched_files_must_be_those_that_were_published(self):
        self.sibyl("models", "import", BERT, "--name", "m")
        published = self.path("store/m/1")
        os.makedirs(self.path("store/m"))
        self.sibyl("models", "export", "m", published)
        self.write("store/m/current", '{"version": "1"}')
        web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
        Files.folder = self.path("store")
        threading.Thread(target=web.serve_forever, daemon=True).start()
        self.addCleanup(web.server_close)
        self.addCleanup(web.shutdown)
        uri = f"m=http://127.0.0.1:{web.server_address[1]}/m/current"
        port, flags = self.flags()
        process = self.start("--model", uri, *flags, http_port=port)
        self.ends(process, 0)
        with open(os.path.join(published, "tokenizer.json"), "ab") as file:
            file.write(b" ")
        self.assertIn("tokenizer.json", self.refused(65, "--model", uri))
        self.write("store/m/current", '{"version": "../../etc"}')
        self.refused(65, "--model", uri)

    def test_what_cannot_start_says_why(self):
        self.assertIn("--model", self.refused(64))
        self.assertIn("NAME=DIR_OR_URI", self.refused(64, "--model", "helpdesk"))
        self.assertIn("no model directory", self.refused(66, "--model", "m=" + self.path("absent")))
        self.assertIn("HTTP_SERVICE_PORT", self.refused(78, "--model", "m=" + BERT, env={
            "PREDICTIVE_UNIT_HTTP_SERVICE_PORT": "http"}))
        self.assertIn("gs://", self.refused(64, "--model", "m=gs://bucket/model"))
        reader = self.path("reader")
        shutil.copytree(BERT, reader)
        os.remove(os.path.join(reader, "modules.json"))
        with open(os.path.join(reader, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        self.write("reader/config.json", json.dumps({**config, "architectures": ["BertForQuestionAnswering"]}))
        self.assertIn("reader", self.refused(65, "--model", "m=" + reader))
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            self.assertIn(address, self.refused(69, "--model", "m=" + BERT, "--http", address, "--grpc", ""))
            self.assertIn(address, self.refused(69, "--model", "m=" + BERT, "--http", "127.0.0.1:0", "--grpc",
                                                address))


if __name__ == "__main__":
    main()
