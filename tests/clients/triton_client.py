"""tritonclient over HTTP (binary and JSON) and gRPC: metadata, the same vectors, errors."""
import sys

import numpy as np
import tritonclient.grpc as over_grpc
import tritonclient.http as over_http
from tritonclient.utils import InferenceServerException

TEXTS = ["the cat sat on the mat", "", "naïve café — 北京 ☃"]


def ask(module, client, shape, **options):
    data = np.array(TEXTS, dtype=object).reshape(shape)
    tensor = module.InferInput("text", shape, "BYTES")
    tensor.set_data_from_numpy(data, **options)
    return client.infer("m", [tensor], request_id="7")


def refuses(work, *words):
    try:
        work()
    except InferenceServerException as error:
        assert all(word in str(error) for word in words), error
        return
    raise AssertionError("nothing was refused")


http = over_http.InferenceServerClient(f"127.0.0.1:{sys.argv[1]}")
grpc = over_grpc.InferenceServerClient(f"127.0.0.1:{sys.argv[2]}")
vectors = []
for module, client in ((over_http, http), (over_grpc, grpc)):
    assert client.is_server_live() and client.is_server_ready()
    assert client.is_model_ready("m") and client.is_model_ready("node") and client.is_model_ready("m", "1")
    if module is over_http:
        assert not client.is_model_ready("absent")
    else:
        refuses(lambda: client.is_model_ready("absent"), "absent")
    client.get_server_metadata()
    client.get_model_metadata("m", "1")
    refuses(lambda: client.get_model_metadata("absent"), "absent")
    for shape in ([3], [3, 1]):
        result = ask(module, client, shape)
        vectors.append(result.as_numpy("vector"))
    wanted = module.InferRequestedOutput("nothing")
    tensor = module.InferInput("text", [1], "BYTES")
    tensor.set_data_from_numpy(np.array(["a"], dtype=object))
    refuses(lambda: client.infer("m", [tensor], outputs=[wanted]), "vector")
    number = module.InferInput("text", [1], "FP32")
    number.set_data_from_numpy(np.array([1], dtype=np.float32))
    refuses(lambda: client.infer("m", [number]), "BYTES")
vectors.append(ask(over_http, http, [3], binary_data=False).as_numpy("vector"))
as_json = over_http.InferRequestedOutput("vector", binary_data=False)
tensor = over_http.InferInput("text", [3], "BYTES")
tensor.set_data_from_numpy(np.array(TEXTS, dtype=object))
vectors.append(http.infer("m", [tensor], outputs=[as_json]).as_numpy("vector"))
for other in vectors:
    assert other.dtype == np.float32 and other.shape == vectors[0].shape == (3, vectors[0].shape[1])
    assert np.isfinite(other).all() and np.array_equal(other, vectors[0])
print(f"tritonclient: {len(vectors)} ways, one answer")
