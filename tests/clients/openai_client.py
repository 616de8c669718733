"""OpenAI's client: its default is base64."""
import sys

import openai

client = openai.OpenAI(base_url=f"http://127.0.0.1:{sys.argv[1]}/v1", api_key="none", max_retries=0)
assert [model.id for model in client.models.list()] == ["m"]
packed = client.embeddings.create(model="m", input=["the cat", ""])
plain = client.embeddings.create(model="m", input=["the cat", ""], encoding_format="float")
for left, right in zip(packed.data, plain.data):
    assert max(abs(a - b) for a, b in zip(left.embedding, right.embedding)) < 1e-6
try:
    client.embeddings.create(model="absent", input="a")
    raise SystemExit("an unknown model was not refused")
except openai.NotFoundError as error:
    assert error.code == "model_not_found", error
print("openai: both encodings, one answer")
