#include "answer/internal/csv_documents.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/ranges.h>

#include "base/json.h"

namespace sibyl::answer::internal {
namespace {

using base::Json;

constexpr std::array<std::string_view, 6> kFields = {"id",   "title", "headings",
                                                     "text", "url",   "metadata"};

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) {
    return {};
  }
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1));
}

/// Numbers and booleans typed, so that filters compare them; "007" and "1e5" stay text.
Json typed_value(const std::string& text) {
  if (text == "true" || text == "false") {
    return text == "true";
  }
  int64_t integer = 0;
  const char* end = text.data() + text.size();
  if (const auto [stop, problem] = std::from_chars(text.data(), end, integer);
      problem == std::errc{} && stop == end && std::to_string(integer) == text) {
    return integer;
  }
  const bool decimal = text.find_first_not_of("-0123456789.") == std::string::npos &&
                       text.find('.') != std::string::npos && text.back() != '.' &&
                       text.front() != '.' &&
                       !(text.size() > 1 && text[0] == '0' && text[1] != '.');
  double number = 0;
  if (const auto [stop, problem] = std::from_chars(text.data(), end, number);
      decimal && problem == std::errc{} && stop == end) {
    return number;
  }
  return text;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (std::string line = trimmed(text.substr(0, end)); !line.empty()) {
      lines.push_back(std::move(line));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

Result<CsvDocuments> CsvDocuments::create(const base::CsvRecord& header,
                                          const std::map<std::string, std::string>& columns) {
  CsvDocuments result;
  for (const std::string& name : header.fields) {
    result.names_.push_back(trimmed(name));
    result.is_field_.push_back(false);
  }
  const std::vector<std::string> there = result.names_;
  for (const std::string_view field : kFields) {
    const auto mapped = columns.find(std::string(field));
    const std::string wanted = mapped == columns.end() ? std::string(field) : mapped->second;
    const auto found = std::find(there.begin(), there.end(), wanted);
    if (found != there.end()) {
      const auto place = static_cast<size_t>(found - there.begin());
      result.names_[place] = field;
      result.is_field_[place] = true;
    } else if (mapped != columns.end() || field == "text") {
      return fail_field(
          Code::InvalidData, std::string(field),
          "line {}: there is no column '{}' for {}; the columns are {}; name one with "
          "--map {}=COLUMN",
          header.line, wanted, field, fmt::join(there, ", "), field);
    }
  }
  for (const auto& [field, column] : columns) {
    if (std::find(kFields.begin(), kFields.end(), field) == kFields.end()) {
      return fail_field(Code::InvalidArgument, "map", "map: '{}' is no field; there are {}", field,
                        fmt::join(kFields, ", "));
    }
  }
  return result;
}

Result<Document> CsvDocuments::document(const base::CsvRecord& row,
                                        const std::string& default_id) const {
  if (row.fields.size() != names_.size()) {
    return fail(Code::InvalidData, "line {}: has {} fields, the header has {}", row.line,
                row.fields.size(), names_.size());
  }
  Json json = Json::object();
  json["id"] = default_id;
  Json metadata = Json::object();
  for (size_t i = 0; i < names_.size(); ++i) {
    const std::string value = trimmed(row.fields[i]);
    if (value.empty() && names_[i] != "text") {
      continue;
    }
    if (!is_field_[i]) {
      if (!names_[i].empty()) {
        metadata[names_[i]] = typed_value(value);
      }
    } else if (names_[i] == "headings") {
      json["headings"] = lines_of(value);
    } else if (names_[i] == "metadata") {
      auto given = base::parse_json(value, "metadata");
      if (!given || !given->is_object()) {
        return fail_field(Code::InvalidData, "metadata", "line {}: metadata: is no JSON object",
                          row.line);
      }
      metadata.update(*given);
    } else {
      json[names_[i]] = value;
    }
  }
  if (!metadata.empty()) {
    json["metadata"] = metadata;
  }
  auto document = parse_document(base::dump_json(json), default_id);
  if (!document) {
    return fail_field(document.error().code, document.error().field, "line {}: {}", row.line,
                      document.error().message);
  }
  return document;
}

char csv_separator(std::string_view first_line, bool tabs) {
  if (tabs) {
    return '\t';
  }
  const bool semicolons = first_line.find(',') == std::string_view::npos &&
                          first_line.find(';') != std::string_view::npos;
  return semicolons ? ';' : ',';
}

}  // namespace sibyl::answer::internal
