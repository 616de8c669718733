#pragma once

#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "answer/internal/row_builder.h"

namespace sibyl::answer::internal {

/// Encodes documents; `encode_documents`, or the same with patience.
using EncodeDocuments = std::function<Result<std::vector<std::vector<std::vector<float>>>>(
    std::span<const DocumentParts>)>;

/// Whether the model encodes a short text of ours at this moment: then it is there, and what just
/// failed failed for its texts.
bool takes_texts(encoder::Encoder& encoder, const std::stop_token& stop);

/// Vectors of each document as `encode_documents` gives them; nothing for a document that the model
/// refuses while it takes other texts, which the log names. One such document must not keep the
/// others without vectors. Fails when the model cannot be asked.
Result<std::vector<std::optional<std::vector<std::vector<float>>>>> encode_carefully(
    std::span<const DocumentParts> documents, const EncodeDocuments& encode,
    encoder::Encoder& encoder, const std::stop_token& stop);

}  // namespace sibyl::answer::internal
