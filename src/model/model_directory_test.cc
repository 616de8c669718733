#include "model/model_directory.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/file_system.h"
#include "base/json.h"

namespace sibyl::model {
namespace {

std::string fixture(const std::string& name) {
  return std::string(SIBYL_TEST_DATA) + "/model/" + name;
}

/// A copy of a fixture that a test may damage.
class Copy {
 public:
  explicit Copy(const std::string& name) : path_(folder_.path() + "/model") {
    std::filesystem::copy(fixture(name), path_, std::filesystem::copy_options::recursive);
  }
  const std::string& path() const { return path_; }
  void put(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path_ + "/" + file).parent_path());
    std::ofstream(path_ + "/" + file, std::ios::binary) << text;
  }
  std::string get(const std::string& file) const {
    return base::read_file(path_ + "/" + file).value();
  }
  void remove(const std::string& file) const { std::filesystem::remove_all(path_ + "/" + file); }
  /// Sets a field of a JSON file.
  void set(const std::string& file, const std::string& key, const base::Json& value) const {
    base::Json json = base::parse_json(get(file)).value();
    json[key] = value;
    put(file, base::dump_json(json));
  }
  /// The message with which the directory is refused.
  std::string refusal() const {
    const auto model = read_model_directory(path_);
    if (model) {
      ADD_FAILURE() << "was read";
      return {};
    }
    return model.error().message;
  }

 private:
  base::TemporaryDirectory folder_;
  std::string path_;
};

bool contains(const std::string& text, const std::string& part) {
  if (text.find(part) == std::string::npos) {
    ADD_FAILURE() << "'" << part << "' is not in: " << text;
    return false;
  }
  return true;
}

TEST(ModelDirectory, ReadsTheOldSpelling) {
  const auto model = read_model_directory(fixture("bert"));
  ASSERT_TRUE(model.has_value()) << model.error().message;
  ASSERT_EQ((*model)->modules.size(), 3U);
  const auto& transformer = std::get<TransformerModule>((*model)->modules[0]);
  EXPECT_EQ(transformer.family, "bert");
  EXPECT_EQ(transformer.layers, 2U);
  EXPECT_EQ(transformer.hidden, 16U);
  EXPECT_EQ(transformer.heads, 2U);
  EXPECT_EQ(transformer.intermediate, 24U);
  EXPECT_EQ(transformer.positions, 34U);
  EXPECT_EQ(transformer.position_offset, 0U);
  EXPECT_EQ(transformer.activation, "gelu");
  EXPECT_EQ(transformer.tokens_max, 20U);
  EXPECT_EQ(std::get<PoolingModule>((*model)->modules[1]).modes,
            std::vector<PoolingMode>{PoolingMode::Mean});
  EXPECT_TRUE(std::holds_alternative<NormalizeModule>((*model)->modules[2]));
  EXPECT_EQ((*model)->dimension, 16U);
  EXPECT_EQ((*model)->tokens_max, 20U);
  EXPECT_EQ((*model)->provenance.version, "1");
}

TEST(ModelDirectory, ReadsTheNewSpellingAndDense) {
  const auto model = read_model_directory(fixture("bert-dense"));
  ASSERT_TRUE(model.has_value()) << model.error().message;
  ASSERT_EQ((*model)->modules.size(), 5U);
  EXPECT_EQ(std::get<TransformerModule>((*model)->modules[0]).activation, "gelu_new");
  EXPECT_EQ(std::get<PoolingModule>((*model)->modules[1]).modes,
            (std::vector<PoolingMode>{PoolingMode::Max, PoolingMode::Cls, PoolingMode::Mean}));
  const auto& first = std::get<DenseModule>((*model)->modules[2]);
  EXPECT_EQ(first.in, 48U);
  EXPECT_EQ(first.out, 20U);
  EXPECT_EQ(first.activation, "tanh");
  const auto& second = std::get<DenseModule>((*model)->modules[3]);
  EXPECT_EQ(second.activation, "identity");
  EXPECT_EQ(second.bias, std::vector<float>(8, 0.0F));
  EXPECT_EQ((*model)->dimension, 8U);
  EXPECT_EQ((*model)->tokens_max, 34U);
}

TEST(ModelDirectory, ReadsOtherFamilies) {
  const auto roberta = read_model_directory(fixture("xlm-roberta"));
  ASSERT_TRUE(roberta.has_value()) << roberta.error().message;
  const auto& module = std::get<TransformerModule>((*roberta)->modules[0]);
  EXPECT_EQ(module.position_offset, 2U);
  EXPECT_EQ((*roberta)->tokens_max, 32U);
  EXPECT_FALSE(std::get<PoolingModule>((*roberta)->modules[1]).include_prompt);
  EXPECT_EQ((*roberta)->prompts,
            (std::map<std::string, std::string>{{"query", "cat on "}, {"document", "dogs "}}));
  const auto distilbert = read_model_directory(fixture("distilbert"));
  ASSERT_TRUE(distilbert.has_value()) << distilbert.error().message;
  EXPECT_EQ(std::get<TransformerModule>((*distilbert)->modules[0]).token_types, 0U);
  EXPECT_EQ((*distilbert)->dimension, 48U);
}

TEST(ModelDirectory, ReadsAPlainHuggingFaceDirectory) {
  const auto model = read_model_directory(fixture("plain"));
  ASSERT_TRUE(model.has_value()) << model.error().message;
  ASSERT_EQ((*model)->modules.size(), 2U);
  EXPECT_EQ(std::get<PoolingModule>((*model)->modules[1]).modes,
            std::vector<PoolingMode>{PoolingMode::Mean});
  const auto& module = std::get<TransformerModule>((*model)->modules[0]);
  EXPECT_NE(transformer_tensor(module, "layer.1.output_norm.bias"), nullptr);
  EXPECT_EQ(transformer_tensor(module, "layer.2.output_norm.bias"), nullptr);
  EXPECT_EQ(transformer_tensor(module, "layer"), nullptr);
}

TEST(ModelDirectory, ReadsStaticTables) {
  const auto table = read_model_directory(fixture("static"));
  ASSERT_TRUE(table.has_value()) << table.error().message;
  const auto& module = std::get<StaticModule>((*table)->modules[0]);
  EXPECT_FALSE(module.model2vec);
  EXPECT_FALSE(module.normalize);
  EXPECT_TRUE(std::holds_alternative<NormalizeModule>((*table)->modules[1]));
  const auto model2vec = read_model_directory(fixture("model2vec"));
  ASSERT_TRUE(model2vec.has_value()) << model2vec.error().message;
  const auto& second = std::get<StaticModule>((*model2vec)->modules[0]);
  EXPECT_TRUE(second.model2vec);
  EXPECT_TRUE(second.normalize);
  EXPECT_EQ(second.dimension, 12U);
  EXPECT_EQ(second.mapping.size(), 31U);
  EXPECT_EQ(second.weights.size(), 31U);
  EXPECT_EQ(second.tokens_max, 512U);
}

// vocab.txt stands in where a model has no tokenizer.json.
TEST(ModelDirectory, ReadsAVocabularyFile) {
  const Copy copy("bert");
  const base::Json tokenizer = base::parse_json(copy.get("tokenizer.json")).value();
  std::string vocabulary;
  for (const auto& [token, id] : tokenizer["model"]["vocab"].items()) {
    vocabulary += token + "\n";
  }
  copy.remove("tokenizer.json");
  contains(copy.refusal(), "vocab.txt");
  copy.put("vocab.txt", vocabulary);
  const auto model = read_model_directory(copy.path());
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ((*model)->tokenizer->token_id("cat"), 6);
}

TEST(ModelDirectory, LowersTextWhereTheModelAsks) {
  const Copy copy("bert");
  base::Json tokenizer = base::parse_json(copy.get("tokenizer.json")).value();
  tokenizer["normalizer"]["lowercase"] = false;
  copy.put("tokenizer.json", base::dump_json(tokenizer));
  text::Tokens tokens;
  (*read_model_directory(copy.path()))->tokenizer->tokenize("THE", {}, tokens);
  EXPECT_EQ(tokens.ids, (std::vector<int32_t>{2, 1, 3}));
  copy.set("sentence_bert_config.json", "do_lower_case", true);
  (*read_model_directory(copy.path()))->tokenizer->tokenize("THE", {}, tokens);
  EXPECT_EQ(tokens.ids, (std::vector<int32_t>{2, 5, 3}));
}

TEST(ModelDirectory, RefusesUnknownParts) {
  {
    const Copy copy("bert");
    copy.set("config.json", "model_type", "modernbert");
    contains(copy.refusal(), "modernbert");
  }
  {
    const Copy copy("bert");
    copy.set("config.json", "hidden_act", "swish");
    contains(copy.refusal(), "swish");
  }
  {
    const Copy copy("bert");
    copy.set("config.json", "position_embedding_type", "relative_key");
    contains(copy.refusal(), "relative_key");
  }
  {
    const Copy copy("bert-dense");
    copy.set("1_Pooling/config.json", "pooling_mode", "attention");
    contains(copy.refusal(), "attention");
  }
  {
    const Copy copy("bert");
    copy.put("modules.json", R"([{"path":"","type":"sentence_transformers.models.CLIPModel"}])");
    contains(copy.refusal(), "CLIPModel");
  }
  {
    const Copy copy("bert-dense");
    copy.set("2_Dense/config.json", "activation_function", "torch.nn.modules.activation.SiLU");
    contains(copy.refusal(), "SiLU");
  }
}

TEST(ModelDirectory, NeverLeavesItsFolder) {
  for (const char* path : {"..", "../other", "/etc", "a/../../b", "a/.."}) {
    const Copy copy("bert");
    copy.put("modules.json", fmt::format(R"([{{"path":"{}","type":"x.Transformer"}}])", path));
    contains(copy.refusal(), "out of the model's folder");
  }
}

TEST(ModelDirectory, RefusesMissingAndMisshapenTensors) {
  const Copy copy("bert");
  copy.set("config.json", "num_hidden_layers", 3);
  contains(copy.refusal(), "encoder.layer.2.attention.self.query.weight");
  copy.set("config.json", "num_hidden_layers", 2);
  copy.set("config.json", "intermediate_size", 25);
  contains(copy.refusal(), "[24, 16]");
  copy.set("config.json", "intermediate_size", 24);
  copy.set("config.json", "num_attention_heads", 3);
  contains(copy.refusal(), "heads");
  copy.set("config.json", "num_attention_heads", "2");
  contains(copy.refusal(), "num_attention_heads");
}

TEST(ModelDirectory, RefusesPicklesAndShards) {
  const Copy copy("bert");
  copy.remove("model.safetensors");
  contains(copy.refusal(), "model.safetensors is missing");
  copy.put("pytorch_model.bin", "x");
  contains(copy.refusal(), "pickle");
  copy.put("model.safetensors.index.json", "{}");
  contains(copy.refusal(), "shards");
}

TEST(ModelDirectory, RefusesPartsThatDoNotFit) {
  {
    const Copy copy("bert-dense");
    copy.set("1_Pooling/config.json", "pooling_mode", "mean");
    contains(copy.refusal(), "in_features");
  }
  {
    const Copy copy("bert");
    copy.set("1_Pooling/config.json", "word_embedding_dimension", 17);
    contains(copy.refusal(), "17");
  }
  {
    const Copy copy("bert");
    std::filesystem::copy_file(fixture("xlm-roberta/tokenizer.json"),
                               copy.path() + "/tokenizer.json",
                               std::filesystem::copy_options::overwrite_existing);
    contains(copy.refusal(), "tokenizer");
  }
}

TEST(ModelDirectory, RefusesDamagedFiles) {
  for (const char* file : {"modules.json", "config.json", "tokenizer.json", "model.safetensors",
                           "sentence_bert_config.json", "1_Pooling/config.json"}) {
    for (const char* damage : {"", "[]", "{", "\xff\xfe", "null", "[[[["}) {
      const Copy copy("bert");
      copy.put(file, damage);
      EXPECT_FALSE(read_model_directory(copy.path()).has_value()) << file << " " << damage;
    }
  }
}

TEST(ModelDirectory, NamesWhatIsNotThere) {
  const auto model = read_model_directory("/nowhere/model");
  ASSERT_FALSE(model.has_value());
  EXPECT_EQ(model.error().code, Code::NotFound);
  const base::TemporaryDirectory empty;
  EXPECT_EQ(read_model_directory(empty.path()).error().code, Code::InvalidData);
}

TransformerToWrite loaded(const std::string& name) {
  const auto model = read_model_directory(fixture(name)).value();
  TransformerToWrite out;
  out.shape = std::get<TransformerModule>(model->modules[0]);
  for (const TransformerTensorName& tensor : transformer_file_names(out.shape)) {
    out.tensors.push_back({tensor.file_name, tensor.shape,
                           to_floats(*transformer_tensor(out.shape, tensor.name)).value()});
  }
  out.shape.tensors = nullptr;
  return out;
}

TEST(ModelWriter, WritesTransformersThatReadBack) {
  for (const char* name : {"bert", "xlm-roberta", "distilbert"}) {
    const base::TemporaryDirectory folder;
    const std::string path = folder.path() + "/out";
    TransformerToWrite model = loaded(name);
    model.pooling = {PoolingMode::Cls, PoolingMode::Mean};
    Provenance provenance;
    provenance.name = name;
    provenance.metrics = R"({"ndcg": 0.5})";
    const std::string tokenizer = base::read_file(fixture(name) + "/tokenizer.json").value();
    const auto written = write_model_directory(path, model, tokenizer, fixture(name), provenance);
    ASSERT_TRUE(written.has_value()) << written.error().message;
    const auto read = read_model_directory(path);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    const auto& module = std::get<TransformerModule>((*read)->modules[0]);
    EXPECT_EQ(module.family, model.shape.family);
    EXPECT_EQ(module.position_offset, model.shape.position_offset);
    EXPECT_EQ(module.layer_norm_epsilon, model.shape.layer_norm_epsilon);
    EXPECT_EQ(module.activation, model.shape.activation);
    EXPECT_EQ((*read)->tokens_max, model.shape.tokens_max);
    EXPECT_EQ((*read)->dimension, 32U);
    EXPECT_EQ((*read)->provenance.dimension, 32U);
    EXPECT_EQ((*read)->provenance.metrics, R"({"ndcg":0.5})");
    EXPECT_EQ(std::get<PoolingModule>((*read)->modules[1]).modes, model.pooling);
    for (const TransformerTensorName& tensor : transformer_file_names(module)) {
      const auto values = to_floats(*transformer_tensor(module, tensor.name)).value();
      const auto wanted =
          std::find_if(model.tensors.begin(), model.tensors.end(),
                       [&](const NamedTensor& t) { return t.name == tensor.file_name; });
      EXPECT_EQ(values, wanted->values) << tensor.name;
    }
    EXPECT_EQ((*read)->prompts, read_model_directory(fixture(name)).value()->prompts);
  }
}

TEST(ModelWriter, WritesStaticTablesAndReplacesWhatWasThere) {
  const base::TemporaryDirectory folder;
  const std::string path = folder.path() + "/out";
  const std::string tokenizer = base::read_file(fixture("bert/tokenizer.json")).value();
  StaticToWrite table{31, 2, std::vector<float>(62, 0.5F), true};
  ASSERT_TRUE(write_model_directory(path, table, tokenizer, "", {}).has_value());
  table.table.assign(62, 0.25F);
  ASSERT_TRUE(write_model_directory(path, table, tokenizer, "", {}).has_value());
  const auto read = read_model_directory(path);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  const auto& module = std::get<StaticModule>((*read)->modules[0]);
  EXPECT_EQ(to_floats(module.table).value(), table.table);
  EXPECT_EQ((*read)->modules.size(), 2U);
  // Nothing of either writing stays beside the model.
  EXPECT_EQ(base::real_file_system().list(folder.path()).value().size(), 1U);
}

TEST(ModelWriter, RefusesIncompleteModels) {
  const base::TemporaryDirectory folder;
  const std::string path = folder.path() + "/out";
  const std::string tokenizer = base::read_file(fixture("bert/tokenizer.json")).value();
  TransformerToWrite model = loaded("bert");
  model.pooling = {PoolingMode::Mean};
  model.tensors.pop_back();
  EXPECT_FALSE(write_model_directory(path, model, tokenizer, "", {}).has_value());
  model = loaded("bert");
  model.pooling = {PoolingMode::Mean, PoolingMode::Cls};
  EXPECT_FALSE(write_model_directory(path, model, tokenizer, "", {}).has_value());
  model.pooling = {PoolingMode::Mean};
  EXPECT_FALSE(write_model_directory(path, model, "{}", "", {}).has_value());
  EXPECT_TRUE(base::real_file_system().list(folder.path()).value().empty());
}

// A model whose file was changed is refused by the file's name, not read with other weights.
TEST(ModelDirectory, RefusesFilesThatChangedSinceTheyWereWritten) {
  const base::TemporaryDirectory folder;
  const std::string path = folder.path() + "/out";
  const std::string tokenizer = base::read_file(fixture("bert/tokenizer.json")).value();
  const StaticToWrite table{31, 2, std::vector<float>(62, 0.5F), true};
  ASSERT_TRUE(write_model_directory(path, table, tokenizer, "", {}).has_value());
  std::string weights = base::read_file(path + "/model.safetensors").value();
  weights.back() ^= 1;
  std::ofstream(path + "/model.safetensors", std::ios::binary) << weights;
  const auto read = read_model_directory(path);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, Code::DataLoss);
  contains(read.error().message, "model.safetensors");
  std::filesystem::remove(path + "/model.safetensors");
  contains(read_model_directory(path).error().message, "model.safetensors");
}

}  // namespace
}  // namespace sibyl::model
