#include "answer/internal/settings.h"

#include <fmt/format.h>

#include "answer/pipeline.h"
#include "base/json.h"
#include "text/analyzer.h"

namespace sibyl::answer::internal {
namespace {

using base::Json;

constexpr int64_t kChunkTokensMax = 8192;
/// Counts changes of how rows are derived, so that a new program derives old rows anew.
constexpr int kDerivationVersion = 1;

Result<void> read_chunking(const Json& value, CollectionSettings& settings) {
  if (value.is_string() && value.get<std::string>() == "off") {
    settings.chunking = false;
    return {};
  }
  if (!value.is_object()) {
    return fail_field(
        Code::InvalidArgument, "chunking",
        "chunking: {} is not right; \"off\" or {{\"tokens\": 200, \"overlap\": 40}} is",
        base::dump_json(value));
  }
  base::JsonFields fields(value, "chunking");
  const int64_t tokens = fields.integer("tokens", 200, 16, kChunkTokensMax);
  const int64_t overlap =
      fields.integer("overlap", tokens == 200 ? 40 : tokens / 5, 0, kChunkTokensMax);
  if (auto done = fields.finish(); !done) {
    return pass_on(done);
  }
  if (overlap * 2 > tokens) {
    return fail_field(Code::InvalidArgument, "chunking.overlap",
                      "chunking.overlap: {} is more than half of chunking.tokens ({})", overlap,
                      tokens);
  }
  settings.chunking = true;
  settings.chunk_tokens = static_cast<size_t>(tokens);
  settings.chunk_overlap = static_cast<size_t>(overlap);
  return {};
}

Json settings_json(const CollectionSettings& settings) {
  Json json;
  json["model"] = settings.model;
  json["language"] = settings.language;
  json["pipeline"] = settings.pipeline;
  if (settings.chunking) {
    json["chunking"] = {{"tokens", settings.chunk_tokens}, {"overlap", settings.chunk_overlap}};
  } else {
    json["chunking"] = "off";
  }
  return json;
}

}  // namespace

std::string settings_to_json(const StoredSettings& stored) {
  Json json = settings_json(stored.settings);
  if (stored.has_previous) {
    json["previous_model"] = stored.previous_model;
  }
  if (stored.is_switching) {
    json["pending_model"] = stored.pending_model;
  }
  if (!stored.awaited_model.empty()) {
    json["awaited_model"] = stored.awaited_model;
  }
  if (stored.rows_wait) {
    json["rows_wait"] = true;
  }
  if (!stored.origins.names.empty()) {
    json["origins"] = stored.origins.names;
  }
  if (!stored.origins.complete) {
    json["more_origins"] = true;
  }
  return base::dump_json(json);
}

bool add_origins(DocumentOrigins& origins, const std::set<std::string>& names) {
  bool changed = false;
  for (const std::string& name : names) {
    if (origins.names.contains(name) ||
        (origins.names.size() >= kOriginsMax && !origins.complete)) {
      continue;
    }
    changed = true;
    if (origins.names.size() < kOriginsMax) {
      origins.names.insert(name);
    } else {
      origins.complete = false;
    }
  }
  return changed;
}

Result<StoredSettings> settings_from_json(std::string_view text) {
  StoredSettings stored;
  if (text.empty()) {
    return stored;
  }
  auto json = base::parse_json(text, "collection settings");
  if (!json || !json->is_object()) {
    return fail(Code::DataLoss, "the collection's settings cannot be read: {}",
                json ? "not an object" : json.error().message);
  }
  base::JsonFields fields(*json, {}, Code::DataLoss);
  stored.settings.model = fields.text("model");
  stored.settings.language = fields.text("language", "en");
  stored.settings.pipeline = fields.text("pipeline", "blend");
  stored.has_previous = fields.has("previous_model");
  stored.previous_model = fields.text("previous_model");
  stored.is_switching = fields.has("pending_model");
  stored.pending_model = fields.text("pending_model");
  stored.awaited_model = fields.text("awaited_model");
  stored.rows_wait = fields.boolean("rows_wait", false);
  if (const Json* origins = fields.value("origins"); origins != nullptr && origins->is_array()) {
    for (const Json& origin : *origins) {
      stored.origins.names.insert(origin.is_string() ? origin.get<std::string>() : std::string());
    }
  }
  stored.origins.complete = !fields.boolean("more_origins", false);
  if (const Json* chunking = fields.value("chunking"); chunking != nullptr) {
    if (auto read = read_chunking(*chunking, stored.settings); !read) {
      return fail(Code::DataLoss, "the collection's settings cannot be read: {}",
                  read.error().message);
    }
  }
  if (auto done = fields.finish(); !done) {
    return pass_on(done);
  }
  return stored;
}

Result<SettingsChange> merge_settings(const CollectionSettings& old, const Json& given) {
  if (!given.is_object()) {
    return fail(Code::InvalidArgument, "settings: {} is not an object", base::dump_json(given));
  }
  SettingsChange change;
  change.merged = old;
  base::JsonFields fields(given);
  change.has_model = fields.has("model") && !given["model"].is_null();
  change.merged.model = fields.text("model", old.model);
  change.has_language = fields.has("language") && !given["language"].is_null();
  change.merged.language = fields.text("language", old.language);
  change.merged.pipeline = fields.text("pipeline", old.pipeline);
  const Json* chunking = fields.value("chunking");
  if (fields.value("fields") != nullptr) {
    return fail_field(
        Code::Unimplemented, "fields",
        "fields: collections of documents have fixed fields; own fields are not built");
  }
  if (auto done = fields.finish(); !done) {
    return pass_on(done);
  }
  if (chunking != nullptr) {
    if (auto read = read_chunking(*chunking, change.merged); !read) {
      return pass_on(read);
    }
  }
  if (auto language = text::Analyzer::create(change.merged.language); !language) {
    return fail_field(Code::InvalidArgument, "language", "language: {}", language.error().message);
  }
  return change;
}

std::string derivation_of(const CollectionSettings& settings) {
  return settings.chunking ? fmt::format("{} chunks {} {}", kDerivationVersion,
                                         settings.chunk_tokens, settings.chunk_overlap)
                           : fmt::format("{} whole", kDerivationVersion);
}

}  // namespace sibyl::answer::internal
