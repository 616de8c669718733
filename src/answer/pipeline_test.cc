#include "answer/pipeline.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sibyl::answer {
namespace {

using Features = std::array<float, kRetrievals>;

double value(std::string_view expression, const Features& features) {
  const auto blend = Blend::parse(expression);
  EXPECT_TRUE(blend.has_value()) << expression;
  return blend ? (*blend)->scores(std::span(&features, 1))[0] : std::nan("");
}

TEST(Blend, PrecedenceSignsAndParentheses) {
  const Features features = {0.5F, 0.25F, 0.125F, 1.0F};
  EXPECT_DOUBLE_EQ(value("4*document + 1.5*headings + 0.3*chunks + 1*bm25", features),
                   2 + 0.375 + 0.0375 + 1);
  EXPECT_DOUBLE_EQ(value("document - headings - chunks", features), 0.125);
  EXPECT_DOUBLE_EQ(value("bm25 / document / headings", features), 8);
  EXPECT_DOUBLE_EQ(value("-(document + bm25) * 2", features), -3);
  EXPECT_DOUBLE_EQ(value("2e1*bm25", features), 20);
}

TEST(Blend, FiguresOverTheCandidates) {
  const auto blend = Blend::parse("bm25 / max_bm25 + min_document + 10*count_bm25");
  ASSERT_TRUE(blend.has_value());
  const std::vector<Features> features = {{0.5F, 0, 0, 4}, {0.25F, 0, 0, 2}, {0.75F, 0, 0, 0}};
  const std::vector<double> scores = (*blend)->scores(features);
  EXPECT_DOUBLE_EQ(scores[0], 1 + 0.25 + 20);
  EXPECT_DOUBLE_EQ(scores[1], 0.5 + 0.25 + 20);
  EXPECT_DOUBLE_EQ(scores[2], 0 + 0.25 + 20);
  EXPECT_EQ((*blend)->uses(), (std::array<bool, kRetrievals>{true, false, false, true}));
}

TEST(Blend, ScoresAreAlwaysOrdered) {
  EXPECT_EQ(value("bm25 / 0", {0, 0, 0, 1}), 0);
  EXPECT_TRUE(std::isfinite(value("bm25 * 1e308 * 1e308", {0, 0, 0, 1})));
  EXPECT_EQ(value("bm25 * 1e308 * 1e308 - bm25 * 1e308 * 1e308", {0, 0, 0, 1}), 0);
}

TEST(Blend, ErrorsNameThePosition) {
  const auto message = [](std::string_view text) { return Blend::parse(text).error().message; };
  EXPECT_EQ(message("document +"),
            "blend: position 11: found the end, expected a number, a retrieval's name or '('");
  EXPECT_EQ(message("document bm25"), "blend: position 10: found 'b', expected + - * / or the end");
  EXPECT_EQ(message("(bm25"), "blend: position 6: found the end, expected ')'");
  EXPECT_EQ(message("2*documents"),
            "blend: position 3: 'documents' is no retrieval; there are document, headings, chunks, "
            "bm25, each also with max_, min_ or count_ before it");
  EXPECT_EQ(message("1 + 2"),
            "blend: '1 + 2' names no retrieval; there are document, headings, chunks, bm25");
}

TEST(Blend, HostileExpressionsAreRefused) {
  EXPECT_FALSE(Blend::parse("").has_value());
  EXPECT_FALSE(Blend::parse(std::string(4000, '(')).has_value());
  EXPECT_FALSE(Blend::parse(std::string(4000, '-') + "bm25").has_value());
  EXPECT_FALSE(Blend::parse(std::string(5000, ' ') + "bm25").has_value());
  EXPECT_FALSE(Blend::parse("1e999*bm25").has_value());
  EXPECT_FALSE(Blend::parse(std::string_view("bm25\0", 5)).has_value());
  EXPECT_TRUE(Blend::parse(std::string(31, '(') + "bm25" + std::string(31, ')')).has_value());
}

TEST(ResolvePipeline, NamesFittedWeightsAndExpressions) {
  EXPECT_EQ(resolve_pipeline("blend", {}, true)->blend->text(),
            "4*document + 1.5*headings + 0.3*chunks + 1*bm25");
  EXPECT_EQ(resolve_pipeline("", {}, true)->name, "blend");
  EXPECT_EQ(resolve_pipeline("blend", {{"blend", "3*document + bm25"}}, true)->blend->text(),
            "3*document + bm25");
  EXPECT_EQ(resolve_pipeline("2*headings", {}, true)->blend->text(), "2*headings");
  // "document+bm25" would be an expression too; the name means its weights.
  EXPECT_EQ(resolve_pipeline("document+bm25", {}, true)->blend->text(), "2.5*document + bm25");
}

TEST(ResolvePipeline, WithoutVectorsEverythingIsBm25) {
  for (const std::string_view name : {"blend", "document", "3*chunks + bm25"}) {
    const auto pipeline = resolve_pipeline(name, {}, false);
    ASSERT_TRUE(pipeline.has_value());
    EXPECT_EQ(pipeline->name, "bm25");
    EXPECT_EQ(pipeline->blend->uses(), (std::array<bool, kRetrievals>{false, false, false, true}));
  }
  EXPECT_FALSE(resolve_pipeline("blended", {}, false).has_value());
}

TEST(ResolvePipeline, UnknownNamesAreAnsweredWithThoseThereAre) {
  EXPECT_EQ(resolve_pipeline("hybrid", {}, true).error().message,
            "pipeline: 'hybrid' is no pipeline; there are blend, bm25, document, document+bm25, or "
            "write an expression over document, headings, chunks, bm25");
}

}  // namespace
}  // namespace sibyl::answer
