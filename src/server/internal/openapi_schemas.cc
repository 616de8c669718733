#include "server/internal/openapi_schemas.h"

namespace sibyl::server {
namespace {

constexpr std::string_view kSchemas = R"json({
"Any": {},
"Problem": {"type": "object", "required": ["type", "title", "status", "detail", "code"],
  "properties": {"type": {"type": "string"}, "title": {"type": "string"},
    "status": {"type": "integer"},
  "detail": {"type": "string"}, "field": {"type": "string"}, "code": {"type": "string"}}},
"OpenAiError": {"type": "object", "required": ["error"], "properties": {"error": {"type": "object",
  "properties": {"message": {"type": "string"}, "type": {"type": "string"},
    "param": {"type": ["string", "null"]}, "code": {"type": ["string", "null"]}}}}},
"Document": {"type": "object", "required": ["text"], "properties": {"id": {"type": "string"},
  "title": {"type": "string"}, "headings": {"type": "array", "items": {"type": "string"}},
  "text": {"type": "string"}, "url": {"type": "string"}, "metadata": {"type": "object"}}},
"Documents": {"type": "array", "items": {"$ref": "#/components/schemas/Document"}},
"AddReport": {"type": "object", "properties": {"added": {"type": "integer"},
  "updated": {"type": "integer"}, "unchanged": {"type": "integer"},
  "waiting": {"type": "integer"},
  "failed": {"type": "array", "items": {"type": "object", "properties": {
    "line": {"type": "integer"}, "id": {"type": "string"}, "error": {"type": "string"},
    "code": {"type": "string"},
    "field": {"type": "string"}}}}}},
"DocumentPage": {"type": "object", "properties": {
  "documents": {"$ref": "#/components/schemas/Documents"}, "next": {"type": ["string", "null"]}}},
"Query": {"type": "object", "required": ["question"], "properties": {"question": {"type": "string"},
  "top": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 5},
  "filter": {"type": "string"}, "pipeline": {"type": "string"},
  "explain": {"type": "boolean", "default": false}}},
"Answer": {"type": "object", "properties": {"id": {"type": "string"},
  "passage_id": {"type": "string"}, "score": {"type": "number"}, "title": {"type": "string"},
  "headings": {"type": "array", "items": {"type": "string"}}, "text": {"type": "string"},
  "url": {"type": "string"}, "metadata": {"type": "object"},
  "span": {"type": ["object", "null"], "properties": {"text": {"type": "string"},
    "start": {"type": "integer"}, "end": {"type": "integer"}, "score": {"type": "number"}}},
  "retrievals": {"type": "object", "additionalProperties": {"type": "object", "properties": {
    "score": {"type": "number"}, "rank": {"type": ["integer", "null"]}}}}}},
"QueryReply": {"type": "object", "properties": {
  "answers": {"type": "array", "items": {"$ref": "#/components/schemas/Answer"}},
  "collection": {"type": "string"}, "model": {"type": ["string", "null"]},
  "pipeline": {"type": "string"}, "notice": {"type": "string"},
  "without_model": {"type": "boolean"}, "took_ms": {"type": "number"}}},
"CollectionSettings": {"type": "object", "properties": {"model": {"type": ["string", "null"]},
  "language": {"type": "string"}, "pipeline": {"type": "string"},
  "chunking": {"oneOf": [{"const": "off"}, {"type": "object", "properties": {
    "tokens": {"type": "integer"}, "overlap": {"type": "integer"}}}]}}},
"Collection": {"type": "object", "properties": {"name": {"type": "string"},
  "settings": {"$ref": "#/components/schemas/CollectionSettings"}, "rows": {"type": "integer"},
  "deleted_rows": {"type": "integer"}, "segments": {"type": "integer"},
  "tail_rows": {"type": "integer"}, "logs": {"type": "integer"},
  "log_bytes": {"type": "integer"},
  "disk_bytes": {"type": "integer"}, "sequence": {"type": "integer"},
  "vectors": {"type": "array", "items": {"type": "object", "properties": {
    "field": {"type": "string"}, "dimension": {"type": "integer"}, "vectors": {"type": "integer"},
    "index": {"enum": ["exact", "flat", "graph"]}, "indexed_vectors": {"type": "integer"},
    "resident_bytes_per_vector": {"type": "number"},
    "mapped_bytes_per_vector": {"type": "number"}}}},
  "health": {"type": "string"},
  "operation": {"type": ["object", "null"], "properties": {"name": {"type": "string"},
    "done": {"type": "integer"}, "total": {"type": "integer"}, "background": {"type": "boolean"}}},
  "switching": {"type": ["object", "null"], "properties": {"model": {"type": "string"},
    "share": {"type": "number"}}},
  "awaits_model": {"type": ["string", "null"]}, "rows_wait": {"type": "boolean"},
  "origins": {"type": "array", "items": {"type": "string"}},
  "more_origins": {"type": "boolean"}}},
"CollectionList": {"type": "object", "properties": {
  "collections": {"type": "array", "items": {"$ref": "#/components/schemas/Collection"}}}},
"Model": {"type": "object", "properties": {"id": {"type": "string"}, "object": {"const": "model"},
  "created": {"type": "integer"}, "owned_by": {"type": "string"}, "name": {"type": "string"},
  "version": {"type": ["integer", "string"]}, "dimension": {"type": "integer"},
  "kind": {"type": "string"}, "bytes": {"type": "integer"}, "default": {"type": "boolean"},
  "path": {"type": "string"}, "provenance": {"type": "object"}, "served": {"type": "boolean"},
  "answers": {"type": "boolean"}, "address": {"type": "string"}}},
"ModelList": {"type": "object", "properties": {"object": {"const": "list"},
  "data": {"type": "array", "items": {"$ref": "#/components/schemas/Model"}}}},
"ModelImport": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"},
  "uri": {"type": "string"},
  "files": {"type": "object", "additionalProperties": {"type": "string"}}}},
"EmbeddingRequest": {"type": "object", "required": ["model", "input"], "properties": {
  "model": {"type": "string"}, "input": {"oneOf": [{"type": "string"},
    {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2048}]},
  "encoding_format": {"enum": ["float", "base64"], "default": "float"},
  "dimensions": {"type": "integer"}, "user": {"type": "string"}}},
"EmbeddingReply": {"type": "object", "properties": {"object": {"const": "list"},
  "data": {"type": "array", "items": {"type": "object", "properties": {
    "object": {"const": "embedding"}, "index": {"type": "integer"},
    "embedding": {"oneOf": [{"type": "array", "items": {"type": "number"}}, {"type": "string"}]}}}},
  "model": {"type": "string"}, "usage": {"type": "object", "properties": {
    "prompt_tokens": {"type": "integer"}, "total_tokens": {"type": "integer"}}}}},
"OpenInferenceError": {"type": "object", "required": ["error"], "properties": {
  "error": {"type": "string"}}},
"InferenceServer": {"type": "object", "properties": {"name": {"type": "string"},
  "version": {"type": "string"}, "extensions": {"type": "array", "items": {"type": "string"}}}},
"InferenceTensor": {"type": "object", "required": ["name", "shape", "datatype"], "properties": {
  "name": {"type": "string"}, "shape": {"type": "array", "items": {"type": "integer"}},
  "datatype": {"type": "string"}, "parameters": {"type": "object"}, "data": {"type": "array"}}},
"InferenceModel": {"type": "object", "properties": {"name": {"type": "string"},
  "versions": {"type": "array", "items": {"type": "string"}}, "platform": {"type": "string"},
  "inputs": {"type": "array", "items": {"$ref": "#/components/schemas/InferenceTensor"}},
  "outputs": {"type": "array", "items": {"$ref": "#/components/schemas/InferenceTensor"}}}},
"InferRequest": {"type": "object", "required": ["inputs"], "properties": {"id": {"type": "string"},
  "parameters": {"type": "object"}, "inputs": {"type": "array", "minItems": 1, "maxItems": 1,
    "items": {"$ref": "#/components/schemas/InferenceTensor"}},
  "outputs": {"type": "array", "items": {"type": "object", "properties": {
    "name": {"const": "vector"}, "parameters": {"type": "object"}}}}}},
"InferReply": {"type": "object", "properties": {"model_name": {"type": "string"},
  "model_version": {"type": "string"}, "id": {"type": "string"},
  "outputs": {"type": "array", "items": {"$ref": "#/components/schemas/InferenceTensor"}}}},
"SeldonMessage": {"type": "object", "properties": {"status": {"type": "object", "properties": {
    "status": {"type": "integer"}, "info": {"type": "string"}, "code": {"type": "integer"},
    "reason": {"type": "string"}}},
  "meta": {"type": "object", "properties": {"puid": {"type": "string"},
    "tags": {"type": "object"}}},
  "data": {"type": "object", "properties": {
    "names": {"type": "array", "items": {"type": "string"}}, "ndarray": {"type": "array"}}},
  "strData": {"type": "string"}, "jsonData": {"type": "object"}}},
"SeldonFeedback": {"type": "object", "properties": {"reward": {"type": "number"},
  "request": {"$ref": "#/components/schemas/SeldonMessage"},
  "response": {"$ref": "#/components/schemas/SeldonMessage"},
  "truth": {"$ref": "#/components/schemas/SeldonMessage"}}},
"JobFile": {"type": "object", "required": ["kind"], "properties": {
  "kind": {"enum": ["supervised", "coldstart", "evaluate"]}, "name": {"type": "string"}}},
"Job": {"type": "object", "properties": {"id": {"type": "string"}, "name": {"type": "string"},
  "kind": {"type": "string"},
  "state": {"enum": ["queued", "running", "done", "failed", "cancelled", "interrupted"]},
  "step": {"type": ["string", "null"]}, "error": {"type": ["string", "null"]},
  "model": {"type": ["string", "null"]}, "created": {"type": "string"},
  "ended": {"type": ["string", "null"]}}},
"JobList": {"type": "object", "properties": {
  "jobs": {"type": "array", "items": {"$ref": "#/components/schemas/Job"}}}},
"Upload": {"type": "object", "properties": {"id": {"type": "string"}, "bytes": {"type": "integer"},
  "name": {"type": "string"}, "created": {"type": "string"}}},
"UploadList": {"type": "object", "properties": {
  "uploads": {"type": "array", "items": {"$ref": "#/components/schemas/Upload"}}}},
"Feedback": {"type": "object", "required": ["collection", "question", "passage_id"], "properties": {
  "collection": {"type": "string"}, "question": {"type": "string"},
  "passage_id": {"type": "string"}, "good": {"type": "boolean", "default": true}}},
"FeedbackRow": {"type": "object", "properties": {"time": {"type": "string"},
  "collection": {"type": "string"}, "question": {"type": "string"}, "answer_id": {"type": "string"},
  "passage_id": {"type": "string"}, "good": {"type": "boolean"}}},
"FeedbackPage": {"type": "object", "properties": {
  "feedback": {"type": "array", "items": {"$ref": "#/components/schemas/FeedbackRow"}},
  "next": {"type": ["integer", "null"]}}},
"Health": {"type": "object", "properties": {"status": {"type": "string"}}},
"Status": {"type": "object", "properties": {"version": {"type": "string"},
  "directory_id": {"type": "string"}, "directory": {"type": "string"}, "role": {"type": "string"},
  "uptime_s": {"type": "integer"}, "draining": {"type": "boolean"},
  "default_model": {"type": ["string", "null"]}, "models": {"type": "integer"},
  "encoders_open": {"type": "integer"}, "jobs_running": {"type": "integer"},
  "collections": {"type": "array", "items": {"$ref": "#/components/schemas/Collection"}},
  "damage": {"type": "array", "items": {"type": "object", "properties": {
    "collection": {"type": "string"}, "error": {"type": "string"}}}}}}
})json";

}  // namespace

std::string_view openapi_schemas() {
  return kSchemas;
}

}  // namespace sibyl::server
