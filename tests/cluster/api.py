# SPDX-License-Identifier: Apache-2.0
"""The test cluster's API server over one kept connection a thread: what kubectl does, without a process a question."""

import http.client
import json
import os
import ssl
import threading
import urllib.parse

DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


class Failed(Exception):
    """A command or the API server said no; the text is what it said."""


class Api:
    def __init__(self, kubeconfig):
        self.kubeconfig = kubeconfig
        self.connections = threading.local()
        self.lock = threading.RLock()
        self.kinds = {}  # "pod", "pods", "po", "Pod", "v1/Pod", "pods.example.org" -> (group version, plural, namespaced)
        self.server = None

    def read(self):
        """The address, the certificate and the token, of the file that up.sh writes (YAML with JSON inside)."""
        with open(self.kubeconfig, encoding="utf-8") as file:
            text = file.read()
        after = lambda word: text.split(word, 1)[1].split('"', 2)[1]  # noqa: E731
        self.token = after("token:")
        self.context = ssl.create_default_context(cafile=text.split("certificate-authority:", 1)[1].split('"', 2)[1])
        self.server = urllib.parse.urlsplit(after("server:"))

    def connection(self, new=False):
        with self.lock:
            if not self.server:
                self.read()
        if new or not getattr(self.connections, "one", None):
            self.connections.one = http.client.HTTPSConnection(
                self.server.hostname, self.server.port, timeout=120, context=self.context
            )
        return self.connections.one

    def request(self, method, path, body=None, content="application/json", user=None, accept="application/json", **query):
        """The answer as JSON. `user`: somebody whom the administrator speaks for."""
        address = path + ("?" + urllib.parse.urlencode(query) if query else "")
        connection = self.connection()
        headers = {"Authorization": "Bearer " + self.token, "Content-Type": content, "Accept": accept}
        if user:
            headers["Impersonate-User"] = user
        text = None if body is None else json.dumps(body)
        for attempt in (1, 2):
            try:
                connection.request(method, address, text, headers)
                answer = connection.getresponse()
                said = answer.read()
                break
            except (http.client.HTTPException, ConnectionError):  # a kept connection that the server has closed
                connection = self.connection(new=True)
                if attempt == 2:
                    raise
        try:
            value = json.loads(said)
        except ValueError:
            value = {"message": said.decode(errors="replace")}
        if answer.status >= 300:
            raise Failed(f"{method} {address}: {answer.status} {value.get('message')}")
        return value

    def discover(self):
        for root in ("/api", "/apis"):
            for group in self.request("GET", root, accept=DISCOVERY)["items"]:
                group_name = group["metadata"].get("name", "")
                for version in reversed(group["versions"]):
                    at = f"{group_name}/{version['version']}".lstrip("/")
                    for one in version.get("resources", []):
                        kind = one["responseKind"]["kind"]
                        found = (at, one["resource"], one["scope"] == "Namespaced", "list" in one["verbs"])
                        names = {kind, one["resource"], one.get("singularResource"), *one.get("shortNames", [])}
                        for name in names - {None, ""}:
                            if root == "/api" or name not in self.kinds or self.kinds[name][0].split("/")[0] == group_name:
                                self.kinds[name] = found
                        self.kinds[f"{at}/{kind}"] = self.kinds[f"{one['resource']}.{group_name}"] = found

    def kind(self, name):
        with self.lock:
            if name in self.kinds:
                return self.kinds[name]
        self.connection()
        with self.lock:
            self.discover()
            if name not in self.kinds:
                raise Failed(f"the API server knows no {name}")
            return self.kinds[name]

    def path(self, kind, name=None, space=None, subresource=None):
        at, plural, namespaced, _ = self.kind(kind)
        root = "/apis/" + at if "/" in at else "/api/" + at
        where = f"/namespaces/{space}" if namespaced and space else ""
        return root + where + "/" + plural + "".join("/" + p for p in (name, subresource) if p)

    def listed(self):
        """The names of all kinds that lie in namespaces and can be listed."""
        self.kind("pods")
        return {plural for _, plural, namespaced, listed in self.kinds.values() if namespaced and listed}
