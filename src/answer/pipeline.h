#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sibyl::answer {

/// The retrievals there are, in the order of features everywhere.
enum class Retrieval : uint8_t { Document = 0, Headings = 1, Chunks = 2, Bm25 = 3 };
inline constexpr size_t kRetrievals = 4;
inline constexpr std::array<std::string_view, kRetrievals> kRetrievalNames = {
    "document", "headings", "chunks", "bm25"};

/// A blend expression compiled once: `4*document + 1.5*headings + 0.3*chunks + 1*bm25`, numbers,
/// + - * / ( ), names of retrievals, and max_X, min_X, count_X over the question's candidates.
/// Immutable, thread-safe. Length at most 4,096, depth 32.
class Blend {
 public:
  static Result<std::shared_ptr<const Blend>> parse(std::string_view text);
  virtual ~Blend() = default;
  /// Which retrievals stand in it; only those are searched.
  virtual const std::array<bool, kRetrievals>& uses() const = 0;
  /// features[candidate][retrieval], every one filled; one score a candidate.
  virtual std::vector<double> scores(
      std::span<const std::array<float, kRetrievals>> features) const = 0;
  virtual const std::string& text() const = 0;
};

/// A named way to answer. There from the start: "bm25", "document", "document+bm25", "blend".
struct Pipeline {
  std::string name;
  std::shared_ptr<const Blend> blend;
  size_t candidates = 200;  ///< each retrieval's share; at least `top`
};

/// Name -> expression of the pipelines that are there before weights are fitted.
const std::map<std::string, std::string>& default_pipelines();

/// Resolves a pipeline for a collection: the name, or a blend expression given in its place;
/// `fitted` are weights stored with the model (name -> expression) and win over the defaults;
/// without a model everything becomes "bm25".
Result<Pipeline> resolve_pipeline(std::string_view name_or_expression,
                                  const std::map<std::string, std::string>& fitted,
                                  bool has_vectors);

}  // namespace sibyl::answer
