#include "answer/internal/careful_encoding.h"

#include <string_view>
#include <utility>

#include "base/log.h"

namespace sibyl::answer::internal {

bool takes_texts(encoder::Encoder& encoder, const std::stop_token& stop) {
  static constexpr std::string_view kText = "How do I begin?";
  encoder::EncodeOptions options;
  options.stop = stop;
  return encoder.encode(std::span(&kText, 1), options).has_value();
}

Result<std::vector<std::optional<std::vector<std::vector<float>>>>> encode_carefully(
    std::span<const DocumentParts> documents, const EncodeDocuments& encode,
    encoder::Encoder& encoder, const std::stop_token& stop) {
  std::vector<std::optional<std::vector<std::vector<float>>>> result;
  result.reserve(documents.size());
  auto together = encode(documents);
  if (together) {
    for (auto& vectors : *together) {
      result.emplace_back(std::move(vectors));
    }
    return result;
  }
  if (!takes_texts(encoder, stop)) {
    return pass_on(together);
  }
  for (size_t i = 0; i < documents.size(); ++i) {
    const auto one = documents.subspan(i, 1);
    auto vectors = encode(one);
    if (!vectors && !takes_texts(encoder, stop)) {
      return pass_on(vectors);
    }
    if (!vectors) {
      base::log_warning("answer",
                        "document '{}' stays without vectors, words alone find it: {}; change it "
                        "or add it again",
                        documents[i].document->id, vectors.error().message);
      result.emplace_back();
      continue;
    }
    result.emplace_back(std::move(vectors->front()));
  }
  return result;
}

}  // namespace sibyl::answer::internal
