#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real S3 server (versitygw over a folder): the programs with it, and whether the double answers as it does.

`tests/cluster/tools.sh store` builds it (Go 1.26); without it these tests are skipped.
"""

import hashlib
import html
import http.client
import json
import os
import re
import subprocess
import sys
import time
import unittest
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
sys.path.insert(0, HERE)
import s3_double  # noqa: E402
from harness import BERT, CliTest, free_port  # noqa: E402

TOOLS = os.environ.get("SIBYL_CLUSTER_DIR") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "sibyl-cluster"
)
SERVER = os.path.join(TOOLS, "bin", "versitygw")


def asked(url, method, path, query="", body=b"", **headers):
    """(status, error code or None, body, headers) of one signed request."""
    where = urllib.parse.urlsplit(url)
    at = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    payload = hashlib.sha256(body).hexdigest()
    signed = {"host": where.netloc, "x-amz-content-sha256": payload, "x-amz-date": at}
    names = sorted(signed)
    path = urllib.parse.quote(path)
    sum_ = s3_double.signature(method, path, query, signed, names, payload, at)
    scope = f"{s3_double.ACCESS}/{at[:8]}/{s3_double.REGION}/s3/aws4_request"
    said = f"AWS4-HMAC-SHA256 Credential={scope},SignedHeaders={';'.join(names)},Signature={sum_}"
    connection = http.client.HTTPConnection(where.hostname, where.port, timeout=60)
    sent = {**signed, **{k.replace("_", "-"): v for k, v in headers.items()}, "Authorization": said}
    connection.request(method, path + ("?" + query if query else ""), body, sent)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    code = re.search(rb"<Code>(\w+)</Code>", text) if answer.status >= 300 else None
    return answer.status, code and code[1].decode(), text, dict(answer.getheaders())


class RealStore(CliTest):
    def setUp(self):
        super().setUp()
        port = free_port()
        os.makedirs(self.path("store/bucket"))
        log = open(self.path("store.log"), "wb")
        self.addCleanup(log.close)
        env = {**os.environ, "ROOT_ACCESS_KEY": s3_double.ACCESS, "ROOT_SECRET_KEY": s3_double.SECRET}
        command = [SERVER, "--port", f"127.0.0.1:{port}", "--region", s3_double.REGION, "posix", self.path("store")]
        server = subprocess.Popen(command, stdout=log, stderr=log, env=env)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.url = f"http://127.0.0.1:{port}"
        self.env = {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_REGION": s3_double.REGION,
            "AWS_ACCESS_KEY_ID": s3_double.ACCESS,
            "AWS_SECRET_ACCESS_KEY": s3_double.SECRET,
            "SIBYL_STORE": "s3://bucket/prefix",
        }
        end = time.monotonic() + 60
        while True:
            try:
                if asked(self.url, "GET", "/bucket", "list-type=2")[0] == 200:
                    return
            except OSError:
                pass
            self.assertIsNone(server.poll(), self.read("store.log"))
            self.assertLess(time.monotonic(), end, "the store did not start")
            time.sleep(0.05)

    def test_the_double_answers_as_the_server_does(self):
        double, _ = s3_double.start()

        def life(url):
            """[(what, status, code, what matters of the rest)]."""
            seen = []

            def ask(what, *request, keep=lambda text, headers: None, **options):
                status, code, text, headers = asked(url, *request, **options)
                seen.append((what, status, code, keep(text, headers) if status < 300 else None))
                return text, headers

            ask("missing", "GET", "/bucket/a")
            ask("put", "PUT", "/bucket/a", body=b"0123456789", keep=lambda _, h: h["ETag"])
            ask("put what is there", "PUT", "/bucket/a", body=b"x", If_None_Match="*")
            ask("put what is not there", "PUT", "/bucket/b/ü +&<", body=b"x", If_None_Match="*")
            ask("get", "GET", "/bucket/a", keep=lambda text, _: text)
            part = {"keep": lambda text, h: (text, h.get("Content-Range"))}
            ask("range", "GET", "/bucket/a", Range="bytes=2-4", **part)
            ask("range over the end", "GET", "/bucket/a", Range="bytes=8-40", **part)
            ask("range behind the end", "GET", "/bucket/a", Range="bytes=40-50", **part)
            ask("another's version", "GET", "/bucket/a", If_Match='"other"')
            ask("head", "HEAD", "/bucket/a", keep=lambda _, h: (h["Content-Length"], h["ETag"]))
            listed = {"keep": lambda text, _: (re.findall(rb"<Key>(.*?)</Key>", text), re.findall(rb"<Size>(\d+)<", text))}
            ask("list", "GET", "/bucket", "list-type=2", **listed)
            ask("list below", "GET", "/bucket", "list-type=2&prefix=b%2F", **listed)
            ask("list nothing", "GET", "/bucket", "list-type=2&prefix=none", **listed)

            def begin(what):
                text, _ = ask(what, "POST", "/bucket/parts", "uploads=")
                return urllib.parse.quote(html.unescape(re.search(rb"<UploadId>(.*?)</UploadId>", text)[1].decode()), safe="")

            def end(what, sum_):
                part = f"<Part><ETag>&quot;{sum_}&quot;</ETag><PartNumber>1</PartNumber></Part>"
                body = f"<CompleteMultipartUpload>{part}</CompleteMultipartUpload>".encode()
                ask(what, "POST", "/bucket/parts", f"uploadId={upload}", body=body)

            upload = begin("begin parts")
            tag = {"keep": lambda _, h: h["ETag"]}
            _, headers = ask("a part", "PUT", "/bucket/parts", f"partNumber=1&uploadId={upload}", body=b"part", **tag)
            end("a wrong sum", "0" * 32)
            end("the end of parts", headers["ETag"].strip('"'))
            ask("what came of them", "GET", "/bucket/parts", keep=lambda text, _: text)
            ask("a part of nothing", "PUT", "/bucket/parts", "partNumber=1&uploadId=none", body=b"part")
            upload = begin("begin again")
            ask("give up", "DELETE", "/bucket/parts", f"uploadId={upload}")
            ask("remove", "DELETE", "/bucket/a")
            ask("remove again", "DELETE", "/bucket/a")
            return seen

        for real, own in zip(life(self.url), life(double), strict=True):
            with self.subTest(real[0]):
                self.assertEqual(own, real)

    def test_wrong_keys_and_regions_are_said(self):
        for change, word, status in (
            ({"AWS_SECRET_ACCESS_KEY": "other"}, "SignatureDoesNotMatch", 69),
            ({"AWS_ACCESS_KEY_ID": "other"}, "404 XAdminUserNotFound", 69),
            ({"AWS_REGION": "else"}, "the region is 'else' (AWS_REGION)", 78),
        ):
            env = {**self.env, **change}
            self.assertIn(word, self.sibyl("models", "import", "s3://bucket/m", env=env, expect=status).err)

    def test_a_model_goes_into_the_store_and_comes_out(self):
        trained, workspace = self.path("trained"), self.path("workspace")
        self.sibyl("models", "import", BERT, "--name", "tiny", data=trained)
        os.makedirs(os.path.join(workspace, "done"))
        self.sibyl("models", "export", "tiny", os.path.join(workspace, "model"), data=trained)
        self.write("workspace/job.json", json.dumps({"format": 1, "kind": "supervised", "name": "house"}))
        self.write("workspace/done/train", "")
        self.sibyl("step", "publish", "--workspace", workspace, env=self.env)
        at = self.path("store/bucket/prefix/models/house/1")
        with open(os.path.join(at, "sibyl.json"), encoding="utf-8") as file:
            checksums = json.load(file)["checksums"]
        for name, checksum in checksums.items():
            with open(os.path.join(at, name), "rb") as file:
                self.assertEqual(hashlib.sha256(file.read()).hexdigest(), checksum, name)
        # The same training is one version, another one the next.
        os.remove(self.path("workspace/done/publish"))
        self.sibyl("step", "publish", "--workspace", workspace, env=self.env)
        self.assertEqual(os.listdir(self.path("store/bucket/prefix/models/house")), ["1"])
        got = self.sibyl_json("models", "import", "s3://bucket/prefix/models/house/1", env=self.env)
        self.assertEqual((got["name"], got["provenance"]["checksums"]), ("house", checksums))
        self.sibyl("models", "import", "s3://bucket/prefix/models/house/2", env=self.env, expect=66)
        with open(os.path.join(at, "modules.json"), "ab") as file:
            file.write(b" ")
        said = self.sibyl("models", "import", "s3://bucket/prefix/models/house/1", "--name", "x", env=self.env, expect=65).err
        self.assertIn("modules.json", said)

    def test_a_workspace_lies_in_the_store(self):
        self.sibyl("models", "import", BERT, "--name", "tiny")
        _, address = self.serve()
        rows = "".join(
            json.dumps({"question": f"What about number {i}?", "answer": f"Number {i} is here. It follows."}) + "\n"
            for i in range(30)
        )
        self.write("store/bucket/prefix/runs/run1/input/pairs.jsonl", rows)
        job = {"kind": "supervised", "name": "next", "base": "tiny", "data": {"pairs": "input/pairs.jsonl"}}
        step = ("step", "prepare", "--workspace", "s3://bucket/prefix/runs/run1", "--server", f"http://{address}")
        self.sibyl(*step, env={**self.env, "SIBYL_JOB": json.dumps(job)})
        at = self.path("store/bucket/prefix/runs/run1")
        self.assertTrue({"job.json", "base", "done"} <= set(os.listdir(at)), os.listdir(at))
        with open(os.path.join(at, "base", "model.safetensors"), "rb") as mine, open(os.path.join(BERT, "model.safetensors"), "rb") as its:
            self.assertEqual(mine.read(), its.read())
        # Done stays done: a second prepare, in a folder of its own, makes nothing anew.
        before = os.stat(os.path.join(at, "done", "prepare")).st_mtime_ns
        self.sibyl(*step, env={**self.env, "SIBYL_JOB": json.dumps(job)})
        self.assertEqual(os.stat(os.path.join(at, "done", "prepare")).st_mtime_ns, before)


if __name__ == "__main__":
    if not os.access(SERVER, os.X_OK):
        print("skipped: versitygw is not there; tests/cluster/tools.sh store builds it with Go", file=sys.stderr)
        sys.exit(77)
    unittest.main()
