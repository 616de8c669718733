#include <utility>

#include "base/file_system.h"
#include "base/json.h"
#include "model/internal/config_fields.h"
#include "model/internal/module_readers.h"

namespace sibyl::model {

namespace {

/// Puts a Lowercase step before the tokenizer's own normaliser, as sentence-transformers does,
/// unless that lowers already.
Result<std::string> lowered_tokenizer_json(std::string_view json, const std::string& name) {
  auto parsed = base::parse_json(json, name);
  if (!parsed) {
    parsed.error().code = Code::InvalidData;
    return pass_on(parsed);
  }
  if (!parsed->is_object()) {
    return fail(Code::InvalidData, "{}: holds no JSON object", name);
  }
  base::Json& tokenizer = *parsed;
  base::Json old = tokenizer.contains("normalizer") ? tokenizer["normalizer"] : base::Json();
  if (old.is_object() && old.value("type", base::Json()) == "BertNormalizer") {
    old["lowercase"] = true;
    tokenizer["normalizer"] = old;
    return base::dump_json(tokenizer);
  }
  base::Json steps = base::Json::array({{{"type", "Lowercase"}}});
  if (old.is_object() && old.value("type", base::Json()) == "Sequence" &&
      old.contains("normalizers") && old["normalizers"].is_array()) {
    steps.insert(steps.end(), old["normalizers"].begin(), old["normalizers"].end());
  } else if (!old.is_null()) {
    steps.push_back(old);
  }
  tokenizer["normalizer"] = {{"type", "Sequence"}, {"normalizers", steps}};
  return base::dump_json(tokenizer);
}

Result<std::shared_ptr<const text::Tokenizer>> read_vocabulary(const std::string& folder,
                                                               bool lowercase) {
  auto vocabulary = base::read_file(base::join_path(folder, "vocab.txt"), kTokenizerBytesMax);
  if (!vocabulary) {
    return pass_on(vocabulary);
  }
  text::WordPieceOptions options;
  const std::string config_path = base::join_path(folder, "tokenizer_config.json");
  if (base::real_file_system().exists(config_path)) {
    auto config = read_config(config_path);
    if (!config) {
      return pass_on(config);
    }
    ConfigFields fields(*config, config_path);
    options.lowercase = fields.boolean("do_lower_case", true) || lowercase;
    options.strip_accents = fields.boolean("strip_accents", options.lowercase);
    auto checked = fields.finish();
    if (!checked) {
      return pass_on(checked);
    }
  }
  auto tokenizer = text::load_wordpiece_vocabulary(*vocabulary, options);
  if (!tokenizer) {
    return pass_on(tokenizer, base::join_path(folder, "vocab.txt"));
  }
  return tokenizer;
}

}  // namespace

Result<std::shared_ptr<const text::Tokenizer>> read_tokenizer(const std::string& folder,
                                                              bool lowercase) {
  base::FileSystem& files = base::real_file_system();
  const std::string path = base::join_path(folder, "tokenizer.json");
  if (!files.exists(path)) {
    if (files.exists(base::join_path(folder, "vocab.txt"))) {
      return read_vocabulary(folder, lowercase);
    }
    return fail(Code::InvalidData, "{}: has neither tokenizer.json nor vocab.txt", folder);
  }
  auto json = base::read_file(path, kTokenizerBytesMax);
  if (json && lowercase) {
    json = lowered_tokenizer_json(*json, path);
  }
  if (!json) {
    return pass_on(json);
  }
  auto tokenizer = text::load_tokenizer_json(*json);
  if (!tokenizer) {
    return pass_on(tokenizer, path);
  }
  return tokenizer;
}

}  // namespace sibyl::model
