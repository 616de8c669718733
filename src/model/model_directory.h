#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/provenance.h"
#include "model/safetensors.h"
#include "text/tokenizer.h"

namespace sibyl::model {

/// BERT family: post-norm encoder with absolute positions ("bert", "roberta", "xlm-roberta",
/// "distilbert"). Tensor names differ; `prefix` and the maker below hide that.
struct TransformerModule {
  std::string family;
  size_t layers = 0;
  size_t hidden = 0;
  size_t heads = 0;
  size_t intermediate = 0;
  size_t vocabulary = 0;
  size_t positions = 0;        ///< rows of the position table
  size_t position_offset = 0;  ///< first position used (padding id + 1 for RoBERTa)
  size_t token_types = 0;      ///< 0 for DistilBERT
  float layer_norm_epsilon = 1e-12F;
  std::string activation;  ///< "gelu" (exact), "relu", "gelu_new"
  size_t tokens_max = 0;   ///< with special tokens; from sentence_bert_config.json or the tokenizer
  bool lowercase = false;  ///< do_lower_case of old sentence_bert_config.json, before the tokenizer
  std::shared_ptr<const SafeTensors> tensors;
};
/// The weights of a transformer under one set of names, whatever the family calls them:
/// "embeddings.word", "embeddings.position", "embeddings.type", "embeddings.norm.{weight,bias}",
/// "layer.I.{query,key,value,attention_output,intermediate,output}.{weight,bias}",
/// "layer.I.{attention_norm,output_norm}.{weight,bias}". nullptr when missing.
const TensorView* transformer_tensor(const TransformerModule& module, std::string_view name);
/// One weight of a transformer: our name, the name in `model.safetensors`, and its shape.
struct TransformerTensorName {
  std::string name;
  std::string file_name;
  std::vector<uint64_t> shape;
};
/// All weights that a transformer of this family and shape has, in file order. Made from the sizes
/// of `shape` alone (`tensors` unused); Linear weights are [out x in].
std::vector<TransformerTensorName> transformer_file_names(const TransformerModule& shape);

enum class PoolingMode { Cls, Max, Mean, MeanSqrtLength, WeightedMean, LastToken };
struct PoolingModule {
  std::vector<PoolingMode> modes;  ///< several are concatenated in this order
  bool include_prompt = true;
};
struct NormalizeModule {};
struct DenseModule {
  size_t in = 0;
  size_t out = 0;
  std::string activation;     ///< "tanh", "identity", "relu", "gelu", "sigmoid"
  std::vector<float> weight;  ///< [out x in]
  std::vector<float> bias;    ///< [out], zeros when the module has none
};
/// Embedding bag: mean over tokens without special ones of weight[t] * table[mapping[t]].
struct StaticModule {
  size_t rows = 0;
  size_t dimension = 0;           ///< from the tensor, not from config.json
  TensorView table;               ///< F32, F16, BF16 or I8
  std::vector<float> weights;     ///< by token id; empty: all 1
  std::vector<uint32_t> mapping;  ///< token id to row; empty: the id itself
  bool model2vec = false;         ///< drops unknown tokens, cuts at 512 tokens, zero for empty text
  bool normalize = true;
  size_t tokens_max = 0;  ///< 0: no limit
  std::shared_ptr<const SafeTensors> tensors;
};
using Module =
    std::variant<TransformerModule, PoolingModule, NormalizeModule, DenseModule, StaticModule>;

/// A model in the sentence-transformers layout (both spellings of types), a plain Hugging Face
/// directory (Transformer + mean pooling) or a Model2Vec one. Checked whole when read: a missing or
/// misshapen tensor, an unknown module or pooling mode, a pickle is refused by name. Immutable.
struct ModelDirectory {
  std::string path;
  std::vector<Module> modules;
  std::shared_ptr<const text::Tokenizer> tokenizer;
  std::map<std::string, std::string> prompts;  ///< "query", "document": put before the text
  Provenance provenance;                       ///< of sibyl.json; defaults when there is none
  size_t dimension = 0;                        ///< of the vectors that come out
  size_t tokens_max = 0;                       ///< 0: no limit
};
Result<std::shared_ptr<const ModelDirectory>> read_model_directory(const std::string& path);

/// What the trainer writes; files it does not make (tokenizer) are copied from `tokenizer_json`.
struct TransformerToWrite {
  TransformerModule shape;           ///< `tensors` unused
  std::vector<NamedTensor> tensors;  ///< Hugging Face's own names (transformer_file_names)
  std::vector<PoolingMode> pooling;
  bool normalize = true;
};
struct StaticToWrite {
  size_t rows = 0;
  size_t dimension = 0;
  std::vector<float> table;
  bool normalize = true;
};
/// Writes modules.json, config.json, model.safetensors, tokenizer.json, 1_Pooling/…, prompts and
/// sibyl.json with checksums, in the old type spelling that every sentence-transformers reads.
/// `source` (may be empty) is a directory whose other small files (vocab.txt,
/// special_tokens_map.json, tokenizer_config.json) are copied. Everything is synced; the folder
/// appears by rename.
Result<void> write_model_directory(const std::string& path,
                                   const std::variant<TransformerToWrite, StaticToWrite>& model,
                                   const std::string& tokenizer_json, const std::string& source,
                                   const Provenance& provenance);

}  // namespace sibyl::model
