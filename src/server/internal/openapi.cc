#include "server/internal/openapi.h"

#include <map>
#include <vector>

#include "base/json_writer.h"
#include "server/application.h"
#include "server/internal/openapi_schemas.h"
#include "server/internal/protocol_errors.h"
#include "server/internal/routes.h"

namespace sibyl::server {
namespace {

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    words.push_back(word);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return words;
}

std::vector<std::string_view> captures_of(std::string_view pattern) {
  std::vector<std::string_view> names;
  size_t open = pattern.find('{');
  while (open != std::string_view::npos) {
    const size_t close = pattern.find('}', open);
    const std::string_view name = pattern.substr(open + 1, close - open - 1);
    names.push_back(name.substr(0, name.find('.')));
    open = pattern.find('{', close);
  }
  return names;
}

void write_parameter(base::JsonWriter& json, std::string_view name, const char* place) {
  const bool in_path = std::string_view(place) == "path";
  json.begin_object().key("name").text(name).key("in").text(place);
  json.key("required").boolean(in_path).key("schema").begin_object();
  json.key("type").text("string").end_object().end_object();
}

void write_content(base::JsonWriter& json, std::string_view type, std::string_view schema) {
  json.key("content").begin_object().key(type).begin_object().key("schema").begin_object();
  json.key("$ref").text(fmt::format("#/components/schemas/{}", schema));
  json.end_object().end_object().end_object();
}

void write_error(base::JsonWriter& json, std::string_view pattern) {
  switch (protocol_of(pattern)) {
    case Protocol::OpenAi:
      return write_content(json, "application/json", "OpenAiError");
    case Protocol::OpenInference:
      return write_content(json, "application/json", "OpenInferenceError");
    case Protocol::Seldon:
      return write_content(json, "application/json", "SeldonMessage");
    case Protocol::Problem:
      return write_content(json, "application/problem+json", "Problem");
  }
}

/// The pattern as OpenAPI writes it.
std::string path_of(std::string_view pattern) {
  std::string path(pattern);
  if (const size_t dots = path.find("...}"); dots != std::string::npos) {
    path.erase(dots, 3);
  }
  return path;
}

void write_reply(base::JsonWriter& json, const Route& route) {
  json.key(std::to_string(route.status)).begin_object().key("description").text("Done");
  if (!route.reply.empty()) {
    write_content(json, "application/json", route.reply);
  }
  json.end_object();
  json.key("default").begin_object().key("description").text("What went wrong");
  write_error(json, route.pattern);
  json.end_object();
}

void write_operation(base::JsonWriter& json, const Route& route) {
  std::string lower(route.method);
  for (char& c : lower) {
    c = static_cast<char>(c - 'A' + 'a');
  }
  json.key(lower).begin_object().key("summary").text(route.summary);
  json.key("operationId").text(fmt::format("{}{}", lower, route.pattern));
  json.key("parameters").begin_array();
  for (const std::string_view name : captures_of(route.pattern)) {
    write_parameter(json, name, "path");
  }
  for (const std::string_view name : words_of(route.parameters)) {
    write_parameter(json, name, "query");
  }
  json.end_array();
  if (!route.request.empty()) {
    json.key("requestBody").begin_object().key("required").boolean(true);
    write_content(json, "application/json", route.request);
    json.end_object();
  }
  if (route.open) {
    json.key("security").begin_array().end_array();
  }
  json.key("responses").begin_object();
  write_reply(json, route);
  json.end_object().end_object();
}

std::string make_document() {
  std::map<std::string_view, std::vector<const Route*>> by_pattern;
  for (const Route& route : routes()) {
    by_pattern[route.pattern].push_back(&route);
  }
  std::string out;
  base::JsonWriter json(out);
  json.begin_object().key("openapi").text("3.1.0").key("info").begin_object();
  json.key("title").text("Sibyl").key("version").text(version());
  json.key("license").begin_object().key("name").text("Apache-2.0").end_object().end_object();
  json.key("security").begin_array().begin_object().key("key").begin_array().end_array();
  json.end_object().end_array();
  json.key("paths").begin_object();
  for (const auto& [pattern, operations] : by_pattern) {
    json.key(path_of(pattern)).begin_object();
    for (const Route* route : operations) {
      write_operation(json, *route);
    }
    json.end_object();
  }
  json.end_object().key("components").begin_object().key("securitySchemes").begin_object();
  json.key("key").begin_object().key("type").text("http").key("scheme").text("bearer");
  json.end_object().end_object().key("schemas").raw(openapi_schemas());
  json.end_object().end_object();
  return out;
}

}  // namespace

const std::string& openapi_document() {
  static const std::string document = make_document();
  return document;
}

}  // namespace sibyl::server
