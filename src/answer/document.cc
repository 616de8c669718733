#include "answer/document.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "text/utf8.h"

namespace sibyl::answer {
namespace {

using base::Json;

tl::unexpected<Error> wrong_type(const std::string& field, const Json& value,
                                 std::string_view right) {
  std::string shown = base::dump_json(value);
  if (shown.size() > 40) {
    shown = std::string(text::cut_utf8(shown, 40)) + "…";
  }
  return fail_field(Code::InvalidData, field, "{}: {} is a {}; {} is right", field, shown,
                    value.type_name(), right);
}

Result<void> read_text(const std::string& field, const Json& value, std::string& out) {
  if (value.is_null()) {
    return {};
  }
  if (!value.is_string()) {
    return wrong_type(field, value, "a text");
  }
  out = value.get<std::string>();
  return {};
}

Result<void> read_headings(const Json& value, std::vector<std::string>& out) {
  if (value.is_null()) {
    return {};
  }
  if (value.is_string()) {
    out.push_back(value.get<std::string>());
    return {};
  }
  if (!value.is_array() || value.size() > kDocumentHeadingsMax) {
    return wrong_type("headings", value,
                      fmt::format("a list of at most {} texts", kDocumentHeadingsMax));
  }
  for (const Json& heading : value) {
    if (!heading.is_string()) {
      return wrong_type(fmt::format("headings[{}]", out.size()), heading, "a text");
    }
    out.push_back(heading.get<std::string>());
  }
  return {};
}

/// Ids may be given as integers too, as databases export them.
Result<void> read_id(const Json& value, std::string& out) {
  if (value.is_number_integer()) {
    out = base::dump_json(value);
    return {};
  }
  return read_text("id", value, out);
}

bool is_offset(const Json& value) {
  return value.is_number_integer() && (value.is_number_unsigned() || value.get<int64_t>() >= 0);
}

/// Whether a value has the form that our readers write; any other "sections" is the user's own.
bool is_section_list(const Json& value) {
  return value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [](const Json& section) {
           return section.is_object() && section.size() == 3 && section.contains("headings") &&
                  section["headings"].is_array() && section.contains("begin") &&
                  is_offset(section["begin"]) && section.contains("end") &&
                  is_offset(section["end"]);
         });
}

Result<void> read_sections(const Json& value, Document& document) {
  uint64_t before = 0;
  for (const Json& item : value) {
    text::Section section;
    const auto begin = item["begin"].get<uint64_t>();
    const auto end = item["end"].get<uint64_t>();
    if (begin < before || end < begin || end > document.text.size()) {
      return fail_field(Code::InvalidData, "sections",
                        "sections: [{}, {}) is not a range after byte {} of a text of {} bytes",
                        begin, end, before, document.text.size());
    }
    before = end;
    for (const Json& heading : item["headings"]) {
      if (!heading.is_string()) {
        return wrong_type("sections.headings", heading, "a text");
      }
      section.headings.push_back(heading.get<std::string>());
    }
    section.range = {static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
    document.sections.push_back(std::move(section));
  }
  document.headings_in_text = true;
  return {};
}

Result<void> read_field(const std::string& name, const Json& value, Document& document,
                        Json& metadata) {
  if (name == "id") {
    return read_id(value, document.id);
  }
  if (name == "title") {
    return read_text(name, value, document.title);
  }
  if (name == "text") {
    return read_text(name, value, document.text);
  }
  if (name == "url") {
    return read_text(name, value, document.url);
  }
  if (name == "headings") {
    return read_headings(value, document.headings);
  }
  if (name == "metadata") {
    if (!value.is_object() && !value.is_null()) {
      return wrong_type(name, value, "an object");
    }
    for (const auto& [key, item] : value.items()) {
      metadata[key] = item;  // What stands in "metadata" wins over a field of the same name.
    }
    return {};
  }
  if (name != "sections" || !is_section_list(value)) {
    if (!metadata.contains(name)) {
      metadata[name] = value;
    }
  }
  return {};
}

Result<void> check_document(const Document& document, const Json& root) {
  if (document.id.size() > kDocumentIdBytesMax) {
    return fail_field(Code::InvalidData, "id", "id: has {} bytes; at most {} are right",
                      document.id.size(), kDocumentIdBytesMax);
  }
  if (!root.contains("text") || root["text"].is_null()) {
    return fail_field(Code::InvalidData, "text", "text: is missing; each document needs one");
  }
  if (document.text.size() > std::numeric_limits<uint32_t>::max()) {
    return fail_field(Code::TooLarge, "text", "text: has {} bytes; at most 4 GiB are right",
                      document.text.size());
  }
  const auto blank = [](std::string_view part) {
    return part.find_first_not_of(" \t\r\n") == std::string_view::npos;
  };
  if (blank(document.text) && blank(document.title) && document.headings.empty()) {
    return fail_field(Code::InvalidData, "text", "text: is empty, and so are title and headings");
  }
  return {};
}

/// The JSON as it was given, with the id put in as first field.
std::string with_id(std::string_view json, std::string_view id, bool null_id_there) {
  if (null_id_there) {
    auto root = base::parse_json(json);
    (*root)["id"] = id;
    return base::dump_json(*root);
  }
  std::string quoted;
  base::JsonWriter(quoted).text(id);
  const size_t brace = json.find('{');
  const size_t next = json.find_first_not_of(" \t\r\n", brace + 1);
  const bool is_empty = next != std::string_view::npos && json[next] == '}';
  return fmt::format("{}\"id\": {}{}{}", json.substr(0, brace + 1), quoted, is_empty ? "" : ", ",
                     json.substr(brace + 1));
}

std::string_view trimmed(std::string_view json) {
  const size_t begin = json.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) {
    return {};
  }
  return json.substr(begin, json.find_last_not_of(" \t\r\n") - begin + 1);
}

void append_line(std::string& out, std::string_view line) {
  if (!line.empty()) {
    if (!out.empty()) {
      out += '\n';
    }
    out += line;
  }
}

}  // namespace

Result<Document> parse_document(std::string_view json, std::string_view default_id) {
  json = trimmed(json);
  auto root = base::parse_json(json, "document");
  if (!root) {
    return fail(Code::InvalidData, "{}", root.error().message);
  }
  if (!root->is_object()) {
    return wrong_type("document", *root, "an object with \"text\"");
  }
  Document document;
  Json metadata = Json::object();
  for (const auto& [name, value] : root->items()) {
    if (auto read = read_field(name, value, document, metadata); !read) {
      return pass_on(read);
    }
  }
  const bool id_given = !document.id.empty();
  if (!id_given) {
    if (default_id.empty()) {
      return fail_field(Code::InvalidData, "id", "id: is missing");
    }
    document.id = default_id;
  }
  if (auto right = check_document(document, *root); !right) {
    return pass_on(right);
  }
  if (root->contains("sections") && is_section_list((*root)["sections"])) {
    if (auto read = read_sections((*root)["sections"], document); !read) {
      return pass_on(read);
    }
  } else {
    document.sections.push_back(
        {document.headings, {0, static_cast<uint32_t>(document.text.size())}});
  }
  document.metadata = metadata.empty() ? "{}" : base::dump_json(metadata);
  document.source = id_given ? std::string(json) : with_id(json, document.id, root->contains("id"));
  return document;
}

std::string document_to_json(const Document& document) {
  std::string out;
  base::JsonWriter writer(out);
  const auto texts = [&](const std::vector<std::string>& list) {
    writer.begin_array();
    for (const std::string& item : list) {
      writer.text(item);
    }
    writer.end_array();
  };
  writer.begin_object();
  writer.key("id").text(document.id);
  if (!document.title.empty()) {
    writer.key("title").text(document.title);
  }
  if (!document.headings.empty()) {
    writer.key("headings");
    texts(document.headings);
  }
  writer.key("text").text(document.text);
  if (!document.url.empty()) {
    writer.key("url").text(document.url);
  }
  if (!document.metadata.empty() && document.metadata != "{}") {
    writer.key("metadata").raw(document.metadata);
  }
  if (document.headings_in_text && !document.sections.empty()) {
    writer.key("sections").begin_array();
    for (const text::Section& section : document.sections) {
      writer.begin_object().key("headings");
      texts(section.headings);
      writer.key("begin").integer(section.range.begin);
      writer.key("end").integer(section.range.end);
      writer.end_object();
    }
    writer.end_array();
  }
  writer.end_object();
  return out;
}

std::string content_id(std::string_view json) {
  return fmt::format("doc-{:016x}", base::hash64(trimmed(json)));
}

std::string whole_text(const Document& document) {
  std::string out = document.headings_in_text ? document.title : heading_text(document);
  append_line(out, document.text);
  return out;
}

std::string heading_text(const Document& document) {
  std::string out = document.title;
  for (const std::string& heading : document.headings) {
    append_line(out, heading);
  }
  return out;
}

}  // namespace sibyl::answer
