#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small object store that speaks the S3 protocol, checks every signature, and fails when it is told to.

    s3_double.py URL_FILE [SECONDS]     writes its address into the file, and ends by itself after that time (300)

Keys: access "test-key", secret "test-secret", region "eu-test-1". `/__control` (no signature) takes
{"faults": [{"method", "match", "count", "status"|"code"|"cut"|"hang_s"|"lost"}], "page": 2, "ranges": false,
"conditions": "known"|"ignored"|"refused" (412, none, 501), "endless": true (a listing of empty pages), "races":
{key: {"puts": n, "text"}} (after the n-th put another's object stands there)} and
gives back {"objects": {key: bytes}, "log": ["PUT key", …], "uploads": open multipart uploads}.
"""

import hashlib
import hmac
import json
import re
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

ACCESS, SECRET, REGION = "test-key", "test-secret", "eu-test-1"


class State:
    def __init__(self):
        self.lock = threading.Lock()
        self.objects = {}  # "bucket/key" -> (bytes, etag, metadata)
        self.uploads = {}  # id -> (name, metadata, {number: bytes})
        self.faults, self.log, self.page, self.ranges = [], [], 1000, True
        self.conditions, self.endless = "known", False
        self.races = {}  # "bucket/key" -> {"puts", "text"}


def signature(method, path, query, headers, names, payload, time_text):
    pairs = sorted(
        (urllib.parse.quote(k, safe="-_.~"), urllib.parse.quote(v, safe="-_.~"))
        for k, v in urllib.parse.parse_qsl(query, keep_blank_values=True)
    )
    canonical = "\n".join(
        [
            method,
            path,
            "&".join(f"{k}={v}" for k, v in pairs),
            "".join(f"{n}:{' '.join(headers[n].split())}\n" for n in names),
            ";".join(names),
            payload,
        ]
    )
    scope = f"{time_text[:8]}/{REGION}/s3/aws4_request"
    text = f"AWS4-HMAC-SHA256\n{time_text}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = ("AWS4" + SECRET).encode()
    for part in (time_text[:8], REGION, "s3", "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    state = None

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", headers=None, cut=False):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if self.command != "HEAD" or "Content-Length" not in (headers or {}):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        self.wfile.write(body[: len(body) // 2] if cut else body)
        if cut:
            self.wfile.flush()
            self.close_connection = True
            self.connection.shutdown(2)

    def error(self, status, code, message="as the test says"):
        body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{escape(message)}</Message></Error>"
        self.reply(status, body.encode())

    def signed(self, path, query, body):
        headers = {k.lower(): v for k, v in self.headers.items()}
        match = re.fullmatch(
            r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request,"
            r"SignedHeaders=([a-z0-9;-]+),Signature=([0-9a-f]{64})",
            headers.get("authorization", ""),
        )
        if not match:
            self.error(403, "AccessDenied", "no signature")
        elif match[3] != REGION:
            self.error(400, "AuthorizationHeaderMalformed", f"the region '{match[3]}' is wrong; expecting '{REGION}'")
        elif match[1] != ACCESS:
            self.error(403, "InvalidAccessKeyId", "unknown key")
        elif hashlib.sha256(body).hexdigest() != headers.get("x-amz-content-sha256"):
            self.error(400, "XAmzContentSHA256Mismatch", "the body is not the one that was signed")
        else:
            names = match[4].split(";")
            must = {"host"} | {n for n in headers if n.startswith("x-amz-")}
            right = must <= set(names) and signature(
                self.command, path, query, headers, names, headers["x-amz-content-sha256"], headers["x-amz-date"]
            )
            if right == match[5]:
                return True
            self.error(403, "SignatureDoesNotMatch", "signature")
        return False

    def handle_one(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, _, query = self.path.partition("?")
        state = self.state
        if path == "/__control":
            return self.control(body)
        if path in ("/__agent", "/__sts"):
            return self.identity(path, body)
        name = urllib.parse.unquote(path[1:])
        with state.lock:
            state.log.append(f"{self.command} {name}" + (f"?{query}" if query else ""))
        if not self.signed(path, query, body):
            return None
        fault = self.fault(name + ("?" + query if query else ""))
        if fault and "hang_s" in fault:
            time.sleep(fault["hang_s"])
        elif fault and "status" in fault:
            return self.error(fault["status"], fault.get("code", "Fault"))
        cut = bool(fault and fault.get("cut"))
        lost = bool(fault and fault.get("lost"))
        if lost:  # it has its effect, and the answer never arrives
            real, self.reply = self.reply, lambda *a, **k: None
            with state.lock:
                self.serve(name, dict(urllib.parse.parse_qsl(query, keep_blank_values=True)), body, False)
            self.reply = real
            self.close_connection = True
            self.connection.shutdown(2)
            return None
        with state.lock:
            return self.serve(name, dict(urllib.parse.parse_qsl(query, keep_blank_values=True)), body, cut)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_one

    def identity(self, path, body):
        """A pod's agent (JSON) and a token service (XML): both give the one key there is, for an hour."""
        asked = dict(urllib.parse.parse_qsl(body.decode()))
        if self.headers.get("Authorization", asked.get("WebIdentityToken")) != "pod-token":
            return self.error(403, "InvalidIdentityToken")
        end = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
        keys = {"AccessKeyId": ACCESS, "SecretAccessKey": SECRET, "Expiration": end}
        with self.state.lock:
            self.state.log.append(f"{self.command} {path}")
        if path == "/__agent":
            return self.reply(200, json.dumps({**keys, "Token": "agent-session"}).encode())
        text = "".join(f"<{k}>{v}</{k}>" for k, v in {**keys, "SessionToken": "role-session"}.items())
        for name in ("Credentials", "AssumeRoleWithWebIdentityResult", "AssumeRoleWithWebIdentityResponse"):
            text = f"<{name}>{text}</{name}>"
        return self.reply(200, text.encode())

    def control(self, body):
        state = self.state
        with state.lock:
            if body:
                told = json.loads(body)
                state.faults = told.get("faults", state.faults)
                state.page = told.get("page", state.page)
                state.ranges = told.get("ranges", state.ranges)
                state.conditions = told.get("conditions", state.conditions)
                state.endless = told.get("endless", state.endless)
                state.races = told.get("races", state.races)
                for key, text in told.get("put", {}).items():
                    state.objects[key] = (text.encode(), '"put"', {})
                if told.get("damage"):
                    data, etag, metadata = state.objects[told["damage"]]
                    state.objects[told["damage"]] = (data[::-1], etag, metadata)
            view = {
                "objects": {k: len(v[0]) for k, v in sorted(state.objects.items())},
                "texts": {k: v[0].decode("utf-8", "replace") for k, v in state.objects.items() if len(v[0]) < 4096},
                "log": state.log,
                "uploads": len(state.uploads),
            }
        return self.reply(200, json.dumps(view).encode())

    def fault(self, what):
        with self.state.lock:
            for fault in self.state.faults:
                method = fault.get("method", self.command)
                if method == self.command and fault.get("count", 1) > 0 and re.search(fault.get("match", ""), what):
                    fault["count"] = fault.get("count", 1) - 1
                    return fault
        return None

    def serve(self, name, query, body, cut):
        bucket, _, key = name.partition("/")
        if self.command == "GET" and not key:
            return self.listing(bucket, query, cut)
        if self.command == "POST" and "uploads" in query:
            number = f"up {len(self.state.log)}&<"
            self.state.uploads[number] = (name, self.metadata(), {})
            text = f"<InitiateMultipartUploadResult><UploadId>{escape(number)}</UploadId></InitiateMultipartUploadResult>"
            return self.reply(200, text.encode(), cut=cut)
        if "uploadId" in query:
            return self.multipart(name, query, body)
        if self.command == "PUT":
            asks = self.headers.get("If-None-Match") == "*" and self.state.conditions != "ignored"
            if asks and self.state.conditions == "refused":
                return self.error(501, "NotImplemented")
            if asks and name in self.state.objects:
                return self.error(412, "PreconditionFailed")
            return self.store(name, body, self.metadata())
        if self.command == "DELETE":
            self.state.objects.pop(name, None)
            return self.reply(204)
        if name not in self.state.objects:
            return self.error(404, "NoSuchKey", "no such key")
        return self.read(*self.state.objects[name], cut)

    def metadata(self):
        return {k.lower(): v for k, v in self.headers.items() if k.lower().startswith("x-amz-meta-")}

    def store(self, name, body, metadata, etag=None):
        etag = etag or f'"{hashlib.md5(body).hexdigest()}"'
        race = self.state.races.get(name, {"puts": 0})
        race["puts"] -= 1
        raced = race["puts"] == 0
        self.state.objects[name] = (race["text"].encode(), '"raced"', {}) if raced else (body, etag, metadata)
        return self.reply(200, headers={"ETag": etag})

    def read(self, data, etag, metadata, cut):
        headers = {"ETag": etag, **metadata}
        if self.headers.get("If-Match") not in (None, etag):
            return self.error(412, "PreconditionFailed")
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if self.command == "HEAD":
            return self.reply(200, headers={**headers, "Content-Length": str(len(data))})
        if not match or not self.state.ranges:
            return self.reply(200, data, headers, cut)
        first, last = int(match[1]), min(int(match[2]), len(data) - 1)
        if first >= len(data):
            return self.error(416, "InvalidRange")
        headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
        return self.reply(206, data[first : last + 1], headers, cut)

    def listing(self, bucket, query, cut):
        prefix = bucket + "/" + query.get("prefix", "")
        keys = [k for k in sorted(self.state.objects) if k.startswith(prefix)]
        at = int(query.get("continuation-token", "tok-0")[4:])
        page = keys[at : at + self.state.page]
        text = "".join(
            f"<Contents><Key>{escape(k.partition('/')[2])}</Key><Size>{len(self.state.objects[k][0])}</Size>"
            f"<ETag>{escape(self.state.objects[k][1])}</ETag></Contents>"
            for k in page
        )
        more = at + len(page) < len(keys) or self.state.endless
        # Of a listing without end each token is another one.
        zeros = "0" * (len(self.state.log) % 50) if self.state.endless else ""
        token = f"<NextContinuationToken>tok-{zeros}{at + len(page)}</NextContinuationToken>" if more else ""
        body = (
            '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"<IsTruncated>{str(more).lower()}</IsTruncated>{token}{text}</ListBucketResult>"
        )
        return self.reply(200, body.encode(), cut=cut)

    def multipart(self, name, query, body):
        upload = self.state.uploads.get(query["uploadId"])
        if upload is None or upload[0] != name:
            return self.error(404, "NoSuchUpload")
        if self.command == "PUT":
            upload[2][int(query["partNumber"])] = body
            return self.reply(200, headers={"ETag": f'"{hashlib.md5(body).hexdigest()}"'})
        if self.command == "DELETE":
            del self.state.uploads[query["uploadId"]]
            return self.reply(204)
        numbers = [int(n) for n in re.findall(r"<PartNumber>(\d+)</PartNumber>", body.decode())]
        etags = re.findall(r"<ETag>&quot;([0-9a-f]+)&quot;</ETag>", body.decode())
        parts = [upload[2].get(n) for n in numbers]
        if None in parts or [hashlib.md5(p).hexdigest() for p in parts] != etags:
            return self.error(400, "InvalidPart")
        del self.state.uploads[query["uploadId"]]
        return self.store(name, b"".join(parts), upload[1], '"parts-%d"' % len(parts))


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # clients that go away are part of the tests


def start():
    """(url, state) of a store that serves in this process."""
    state = State()
    server = Server(("127.0.0.1", 0), type("Bound", (Handler,), {"state": state}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}", state


if __name__ == "__main__":
    url, _ = start()
    with open(sys.argv[1] + ".tmp", "w", encoding="utf-8") as file:
        file.write(url)
    import os

    os.rename(sys.argv[1] + ".tmp", sys.argv[1])
    signal_end = threading.Event()
    signal_end.wait(float(sys.argv[2]) if len(sys.argv) > 2 else 300)
