#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <memory>
#include <utility>

#include "base/thread_pool.h"
#include "encoder/internal/text_tokens.h"
#include "encoder/internal/transformer_encoder.h"
#include "encoder/internal/vector_head.h"
#include "simd/distance.h"
#include "simd/neural.h"
#include "text/utf8.h"

namespace sibyl::encoder {

namespace {

/// Texts that one thread takes at once; fewer are not worth waking another.
constexpr size_t kTextsTogether = 32;
/// Texts between two looks at the stop token.
constexpr size_t kTextsPerRound = 8192;

/// Sums rows of the table, which is read in the file where its type and place allow that.
class EmbeddingTable {
 public:
  explicit EmbeddingTable(const model::StaticModule& module) : module_(module) {
    const model::TensorView& table = module.table;
    const auto place = reinterpret_cast<uintptr_t>(table.bytes.data());
    const bool in_place =
        table.type == model::TensorType::I8 ||
        (table.type == model::TensorType::F16 && place % alignof(uint16_t) == 0) ||
        (table.type == model::TensorType::F32 && place % alignof(float) == 0);
    type_ = in_place ? table.type : model::TensorType::F32;
    if (!in_place) {
      copy_ = model::to_floats(table).value();
    }
    data_ = in_place ? table.bytes.data() : reinterpret_cast<const char*>(copy_.data());
  }

  void add(int32_t id, float* sum) const {
    const auto token = static_cast<size_t>(id);
    const size_t row = module_.mapping.empty() ? token : module_.mapping[token];
    const float weight = module_.weights.empty() ? 1.0F : module_.weights[token];
    const size_t at = row * module_.dimension;
    switch (type_) {
      case model::TensorType::F16:
        simd::add_scaled_f16(sum, reinterpret_cast<const uint16_t*>(data_) + at, weight,
                             module_.dimension);
        break;
      case model::TensorType::I8:
        simd::add_scaled_i8(sum, reinterpret_cast<const int8_t*>(data_) + at, weight,
                            module_.dimension);
        break;
      default:
        simd::add_scaled(sum, reinterpret_cast<const float*>(data_) + at, weight,
                         module_.dimension);
    }
  }

  /// Token ids that have weights.
  size_t tokens() const { return module_.mapping.empty() ? module_.rows : module_.mapping.size(); }

 private:
  const model::StaticModule& module_;
  model::TensorType type_;
  std::vector<float> copy_;
  const char* data_ = nullptr;
};

/// Model2Vec cuts a text at so many characters before it tokenises; half of the tokens are longer.
size_t median_token_length(const text::Tokenizer& tokenizer) {
  std::vector<size_t> lengths;
  for (size_t id = 0; id < tokenizer.vocabulary_size(); ++id) {
    lengths.push_back(text::code_points(tokenizer.token(static_cast<int32_t>(id))));
  }
  if (lengths.empty()) {
    return 1;
  }
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return std::max<size_t>(1, *middle);
}

std::string_view cut_characters(std::string_view text, size_t characters_max) {
  if (text.size() <= characters_max) {
    return text;
  }
  size_t at = 0;
  for (size_t count = 0; at < text.size() && count < characters_max; ++count) {
    text::next_code_point(text, at);
  }
  return text.substr(0, at);
}

class StaticEncoder final : public Encoder {
 public:
  StaticEncoder(std::shared_ptr<const model::ModelDirectory> model, EncoderInfo info,
                const CpuEncoderOptions& options)
      : model_(std::move(model)),
        info_(std::move(info)),
        module_(std::get<model::StaticModule>(model_->modules.front())),
        table_(module_),
        head_(model_, 1) {
    if (module_.model2vec) {
      characters_max_ = module_.tokens_max * median_token_length(*model_->tokenizer);
    }
    if (options.threads > 1) {
      // The calling thread works too.
      pool_ = std::make_unique<base::ThreadPool>(options.threads - 1, options.queue_texts_max);
    }
  }

  const EncoderInfo& info() const override { return info_; }
  const text::Tokenizer* tokenizer() const override { return model_->tokenizer.get(); }

  Result<EncodedTexts> encode(std::span<const std::string_view> texts,
                              const EncodeOptions& options) override {
    EncodedTexts out;
    out.vectors.resize(texts.size() * info_.dimension);
    std::atomic<uint64_t> tokens{0};
    std::atomic<uint64_t> truncated{0};
    for (size_t begin = 0; begin < texts.size(); begin += kTextsPerRound) {
      if (options.stop.stop_requested()) {
        return fail(Code::Interrupted, "encoding was stopped");
      }
      const auto round = texts.subspan(begin, std::min(kTextsPerRound, texts.size() - begin));
      float* vectors = out.vectors.data() + begin * info_.dimension;
      const size_t groups = (round.size() + kTextsTogether - 1) / kTextsTogether;
      const auto encode_group = [&](size_t group) {
        const size_t first = group * kTextsTogether;
        encode_some(round.subspan(first, std::min(kTextsTogether, round.size() - first)), options,
                    vectors + first * info_.dimension, tokens, truncated);
      };
      if (pool_ != nullptr && groups > 1) {
        pool_->for_each(groups, encode_group);
      } else {
        for (size_t group = 0; group < groups; ++group) {
          encode_group(group);
        }
      }
    }
    out.tokens = tokens;
    out.truncated = truncated;
    return out;
  }

 private:
  void encode_some(std::span<const std::string_view> texts, const EncodeOptions& options,
                   float* out, std::atomic<uint64_t>& tokens,
                   std::atomic<uint64_t>& truncated) const {
    TextTokens reader(*model_, table_.tokens(), options, false);
    std::vector<float> sums(texts.size() * module_.dimension);
    uint64_t used = 0;
    uint64_t cut = 0;
    for (size_t i = 0; i < texts.size(); ++i) {
      const std::string_view text =
          module_.model2vec ? cut_characters(texts[i], characters_max_) : texts[i];
      const std::vector<int32_t>& ids = reader.ids(text);
      cut += reader.truncated() || text.size() < texts[i].size() ? 1 : 0;
      used += ids.size();
      average(ids, sums.data() + i * module_.dimension);
    }
    head_.run(sums, texts.size(), module_.dimension, out);
    tokens += used;
    truncated += cut;
  }

  void average(const std::vector<int32_t>& ids, float* sum) const {
    const int32_t unknown = module_.model2vec ? model_->tokenizer->unknown_id() : -1;
    size_t count = 0;
    for (const int32_t id : ids) {
      if (id != unknown) {
        table_.add(id, sum);
        ++count;
      }
    }
    if (count > 0) {
      const auto divisor = static_cast<float>(count);
      std::transform(sum, sum + module_.dimension, sum,
                     [divisor](float value) { return value / divisor; });
    }
    if (module_.normalize) {
      simd::normalize(sum, module_.dimension);
    }
  }

  std::shared_ptr<const model::ModelDirectory> model_;
  const EncoderInfo info_;
  const model::StaticModule& module_;
  EmbeddingTable table_;
  VectorHead head_;
  size_t characters_max_ = SIZE_MAX;
  std::unique_ptr<base::ThreadPool> pool_;
};

/// Row by row, so that a large table is not copied.
Result<void> check_finite(const model::StaticModule& module, const std::string& path) {
  const auto finite = [](const std::vector<float>& values) {
    return std::all_of(values.begin(), values.end(),
                       [](float value) { return std::isfinite(value); });
  };
  bool good = finite(module.weights);
  const size_t row_bytes = module.table.bytes.size() / module.rows;
  for (size_t row = 0; good && row < module.rows; ++row) {
    model::TensorView view = module.table;
    view.bytes = module.table.bytes.substr(row * row_bytes, row_bytes);
    good = finite(model::to_floats(view).value());
  }
  if (!good) {
    return fail(Code::InvalidData,
                "{}: the embeddings hold infinities or NaN; the model is damaged", path);
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<Encoder>> open_static_encoder(
    std::shared_ptr<const model::ModelDirectory> model, EncoderInfo info,
    const CpuEncoderOptions& options) {
  const auto& module = std::get<model::StaticModule>(model->modules.front());
  auto checked = check_finite(module, model->path);
  if (!checked) {
    return pass_on(checked);
  }
  return std::make_shared<StaticEncoder>(std::move(model), std::move(info), options);
}

}  // namespace sibyl::encoder
