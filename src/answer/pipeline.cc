#include "answer/pipeline.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "answer/internal/blend_expression.h"

namespace sibyl::answer {
namespace {

using internal::BlendStep;
using Features = std::array<float, kRetrievals>;

/// Figures over the question's candidates that max_X, min_X and count_X stand for.
struct CandidateFigures {
  std::array<double, kRetrievals> max{};
  std::array<double, kRetrievals> min{};
  std::array<double, kRetrievals> count{};
};

CandidateFigures figures_of(std::span<const Features> features) {
  CandidateFigures result;
  for (size_t r = 0; r < kRetrievals && !features.empty(); ++r) {
    double low = std::numeric_limits<double>::max();
    double high = std::numeric_limits<double>::lowest();
    for (const Features& candidate : features) {
      const auto value = static_cast<double>(candidate[r]);
      low = std::min(low, value);
      high = std::max(high, value);
      result.count[r] += value != 0 ? 1 : 0;
    }
    result.max[r] = high;
    result.min[r] = low;
  }
  return result;
}

/// Scores must be ordered: what is no number counts as 0, what is too large as the largest.
double finite(double value) {
  if (std::isnan(value)) {
    return 0;
  }
  constexpr double kMost = std::numeric_limits<double>::max();
  return std::clamp(value, -kMost, kMost);
}

class CompiledBlend final : public Blend {
 public:
  CompiledBlend(std::string text, std::vector<BlendStep> steps)
      : text_(std::move(text)), steps_(std::move(steps)) {
    for (const BlendStep& step : steps_) {
      if (step.kind == BlendStep::Kind::Feature || step.kind == BlendStep::Kind::Max ||
          step.kind == BlendStep::Kind::Min || step.kind == BlendStep::Kind::Count) {
        uses_[step.retrieval] = true;
      }
    }
  }

  const std::array<bool, kRetrievals>& uses() const override { return uses_; }
  const std::string& text() const override { return text_; }

  std::vector<double> scores(std::span<const Features> features) const override {
    const CandidateFigures figures = figures_of(features);
    std::vector<double> result;
    result.reserve(features.size());
    std::vector<double> stack;
    stack.reserve(steps_.size());
    for (const Features& candidate : features) {
      stack.clear();
      for (const BlendStep& step : steps_) {
        run(step, candidate, figures, stack);
      }
      result.push_back(finite(stack.back()));
    }
    return result;
  }

 private:
  static void run(const BlendStep& step, const Features& candidate, const CandidateFigures& figures,
                  std::vector<double>& stack) {
    using Kind = BlendStep::Kind;
    switch (step.kind) {
      case Kind::Number:
        stack.push_back(step.number);
        return;
      case Kind::Feature:
        stack.push_back(static_cast<double>(candidate[step.retrieval]));
        return;
      case Kind::Max:
        stack.push_back(figures.max[step.retrieval]);
        return;
      case Kind::Min:
        stack.push_back(figures.min[step.retrieval]);
        return;
      case Kind::Count:
        stack.push_back(figures.count[step.retrieval]);
        return;
      case Kind::Negate:
        stack.back() = -stack.back();
        return;
      case Kind::Add:
      case Kind::Subtract:
      case Kind::Multiply:
      case Kind::Divide:
        break;
    }
    const double right = stack.back();
    stack.pop_back();
    double& left = stack.back();
    if (step.kind == Kind::Add) {
      left += right;
    } else if (step.kind == Kind::Subtract) {
      left -= right;
    } else if (step.kind == Kind::Multiply) {
      left *= right;
    } else {
      left = right == 0 ? 0 : left / right;  // An empty maximum divides to nothing.
    }
  }

  std::string text_;
  std::vector<BlendStep> steps_;
  std::array<bool, kRetrievals> uses_{};
};

bool is_plain_name(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
}

Result<Pipeline> named(std::string_view name, std::string_view expression) {
  auto blend = Blend::parse(expression);
  if (!blend) {
    return pass_on(blend, fmt::format("pipeline '{}'", name));
  }
  return Pipeline{std::string(name), *blend};
}

}  // namespace

Result<std::shared_ptr<const Blend>> Blend::parse(std::string_view text) {
  auto steps = internal::compile_blend(text);
  if (!steps) {
    return pass_on(steps);
  }
  auto blend = std::make_shared<const CompiledBlend>(std::string(text), std::move(*steps));
  if (std::none_of(blend->uses().begin(), blend->uses().end(), [](bool used) { return used; })) {
    return fail_field(Code::InvalidArgument, "blend",
                      "blend: '{}' names no retrieval; there are {}", text,
                      fmt::join(kRetrievalNames, ", "));
  }
  return blend;
}

const std::map<std::string, std::string>& default_pipelines() {
  static const std::map<std::string, std::string> pipelines = {
      {"bm25", "bm25"},
      {"document", "document"},
      {"document+bm25", "2.5*document + bm25"},
      {"blend", "4*document + 1.5*headings + 0.3*chunks + 1*bm25"}};
  return pipelines;
}

Result<Pipeline> resolve_pipeline(std::string_view name_or_expression,
                                  const std::map<std::string, std::string>& fitted,
                                  bool has_vectors) {
  const std::string name(name_or_expression.empty() ? "blend" : name_or_expression);
  std::string expression = name;
  if (const auto fit = fitted.find(name); fit != fitted.end()) {
    expression = fit->second;
  } else if (const auto known = default_pipelines().find(name);
             known != default_pipelines().end()) {
    expression = known->second;
  }
  auto pipeline = named(name, expression);
  if (!pipeline && expression == name && is_plain_name(name)) {
    std::vector<std::string> names;
    for (const auto& [known, unused] : default_pipelines()) {
      names.push_back(known);
    }
    return fail_field(Code::InvalidArgument, "pipeline",
                      "pipeline: '{}' is no pipeline; there are {}, or write an expression over {}",
                      name, fmt::join(names, ", "), fmt::join(kRetrievalNames, ", "));
  }
  if (!pipeline || has_vectors) {
    return pipeline;
  }
  return named("bm25", "bm25");
}

}  // namespace sibyl::answer
