#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The API server as the step deploy sees it: TLS, a bearer token, GET and server-side apply of serving objects.

    api_double.py FOLDER        FOLDER holds cert.pem, key.pem and token; port, objects.json and log.jsonl are written

`faults.json` in the folder, [{"method", "status"|"hang_s", "count"}], makes it fail; objects.json is {path: object}.
"""

import json
import os
import ssl
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FOLDER = sys.argv[1]
LOCK = threading.Lock()


def path(name):
    return os.path.join(FOLDER, name)


def read(name, otherwise):
    try:
        with open(path(name), encoding="utf-8") as file:
            return json.load(file) if name.endswith(".json") else file.read()
    except FileNotFoundError:
        return otherwise


def write(name, text):
    with open(path(name + ".tmp"), "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(path(name + ".tmp"), path(name))


def merge(old, new):
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(old.get(key), dict):
            merge(old[key], value)
        else:
            old[key] = value


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def status(self, code, message):
        self.reply(code, {"kind": "Status", "status": "Failure", "message": message, "code": code})

    def handle_one(self):
        hang_s = self.answer()
        if hang_s:
            time.sleep(hang_s)
            self.close_connection = True

    def answer(self):
        """None once it has answered, otherwise for how long it is silent."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        where, _, query = self.path.partition("?")
        with LOCK, open(path("log.jsonl"), "a", encoding="utf-8") as log:
            said = {"method": self.command, "path": where, "query": query, "body": body}
            log.write(json.dumps({**said, "type": self.headers.get("Content-Type")}) + "\n")
            if self.headers.get("Authorization") != "Bearer " + read("token", "").strip():
                return self.status(401, "Unauthorized")
            faults = read("faults.json", [])
            for fault in faults:
                if fault["method"] == self.command and fault["count"] > 0:
                    fault["count"] -= 1
                    write("faults.json", json.dumps(faults))
                    if "hang_s" in fault:
                        return fault["hang_s"]
                    return self.status(fault["status"], f"fault {fault['status']}")
            objects = read("objects.json", {})
            if where not in objects:
                return self.status(404, f'"{where.rsplit("/", 1)[-1]}" not found')
            if self.command == "PATCH":
                asked = urllib.parse.parse_qs(query)
                if self.headers.get("Content-Type") != "application/apply-patch+yaml" or "fieldManager" not in asked:
                    return self.status(415, "not an apply")
                merge(objects[where], json.loads(body))
                write("objects.json", json.dumps(objects))
            return self.reply(200, objects[where])

    do_GET = do_PATCH = handle_one


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path("cert.pem"), path("key.pem"))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    write("port", str(server.server_port))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    threading.Event().wait(300)
