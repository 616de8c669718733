#!/usr/bin/env python3
"""Starts the model server and lets one client's script ask it: clients_test.py triton|seldon|openai

The scripts run in environments that `tools/setup clients` makes; exit 77 when there is none.
"""
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

ENVIRONMENTS = {"triton": "triton", "openai": "triton", "seldon": "seldon"}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def main():
    name = sys.argv[1]
    python = os.path.join(os.environ["SIBYL_CLIENTS"], ENVIRONMENTS[name], "bin", "python")
    if not os.path.exists(python):
        print(f"skipped: {python} is missing; tools/setup clients makes it")
        sys.exit(77)
    http, grpc = free_port(), free_port()
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PREDICTIVE_UNIT_")}
    environment |= {"PREDICTIVE_UNIT_HTTP_SERVICE_PORT": str(http), "PREDICTIVE_UNIT_GRPC_SERVICE_PORT": str(grpc),
                    "PREDICTIVE_UNIT_ID": "node"}
    model = os.path.join(os.environ["SIBYL_TEST_DATA"], "model", "bert")
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen([os.environ["SIBYL_PROGRAM"], "serve", "--role", "models", "--model", "m=" + model],
                                  env=environment, stdout=log, stderr=log)
        try:
            for port in (http, grpc):
                wait_for(server, port, log)
            folder = os.path.dirname(os.path.abspath(__file__))
            done = subprocess.run([python, "-B", os.path.join(folder, name + "_client.py"), str(http), str(grpc)],
                                  timeout=240, check=False)
            server.send_signal(signal.SIGTERM)
            ended = server.wait(60)
        finally:
            if server.poll() is None:
                server.kill()
        if done.returncode != 0 or ended != 0:
            log.seek(0)
            print(log.read().decode(errors="replace")[-5000:])
            sys.exit(f"client {done.returncode}, server {ended}")


def wait_for(server, port, log):
    end = time.time() + 60
    while time.time() < end:
        if server.poll() is not None:
            log.seek(0)
            sys.exit(log.read().decode(errors="replace"))
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    sys.exit("the server did not start")


if __name__ == "__main__":
    main()
