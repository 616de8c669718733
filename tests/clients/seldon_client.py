"""seldon-core 1.17.1: its client and its testers, over REST and gRPC."""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
from seldon_core.seldon_client import SeldonClient

HTTP, GRPC = sys.argv[1:3]
TEXTS = [["the cat sat on the mat"], [""]]
CONTRACT = {"features": [{"name": "text", "dtype": "STRING", "ftype": "categorical", "values": ["a cat", "a dog"]}],
            "targets": [{"name": "vector", "dtype": "FLOAT", "ftype": "continuous", "shape": [1]}]}


def rows(reply):
    assert reply.success, reply.msg
    response = reply.response
    if not isinstance(response, dict):
        from google.protobuf.json_format import MessageToDict
        response = MessageToDict(response)
    assert response["data"]["names"] == ["vector"] and response["meta"]["tags"]["model"] == "m", response
    return [row[0] for row in response["data"]["ndarray"]]


client = SeldonClient(microservice_endpoint=f"127.0.0.1:{HTTP}", gateway_endpoint=f"127.0.0.1:{HTTP}")
grpc_client = SeldonClient(microservice_endpoint=f"127.0.0.1:{GRPC}", gateway_endpoint=f"127.0.0.1:{GRPC}")
data = np.array(TEXTS)
answers = [
    rows(client.microservice(data=data, names=["text"], method="predict", payload_type="ndarray", transport="rest")),
    rows(grpc_client.microservice(data=data, names=["text"], method="predict", payload_type="ndarray",
                                  transport="grpc")),
    rows(client.predict(data=data, names=["text"], payload_type="ndarray", transport="rest", gateway="seldon")),
    rows(grpc_client.predict(data=data, names=["text"], payload_type="ndarray", transport="grpc", gateway="seldon")),
]
for other in answers:
    assert len(other) == 2 and np.allclose(np.array(other), np.array(answers[0]), atol=1e-7)
refused = client.microservice(data=np.array([[1.5]]), method="predict", payload_type="tensor", transport="rest")
assert not refused.success, refused

bin_folder = os.path.dirname(sys.executable)
with tempfile.TemporaryDirectory() as folder:
    contract = os.path.join(folder, "contract.json")
    with open(contract, "w", encoding="utf-8") as file:
        json.dump(CONTRACT, file)
    for program, port, options in (("seldon-core-tester", HTTP, []), ("seldon-core-tester", GRPC, ["--grpc"]),
                                   ("seldon-core-api-tester", HTTP, [])):
        done = subprocess.run([os.path.join(bin_folder, program), contract, "127.0.0.1", port, "-p", "-b", "3",
                               *options], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0 and "vector" in done.stdout, (program, options, done.stdout, done.stderr)
print(f"seldon-core: {len(answers)} ways and three testers, one answer")
