#include "answer/internal/row_builder.h"

#include <gtest/gtest.h>

#include "answer/internal/test_encoders.h"

namespace sibyl::answer::internal {
namespace {

Document document_of(std::string title, std::vector<std::string> headings, std::string text) {
  Document document;
  document.id = title + text;
  document.title = std::move(title);
  document.headings = std::move(headings);
  document.text = std::move(text);
  document.sections = {{document.headings, {0, static_cast<uint32_t>(document.text.size())}}};
  return document;
}

std::vector<float> encoded_alone(const std::string& text, WordEncoder& encoder) {
  const std::string_view view = text;
  return encoder.encode({&view, 1}, {})->vectors;
}

class EncodeDocuments : public ::testing::Test {
 protected:
  std::vector<std::vector<std::vector<float>>> encode(const std::vector<Document>& documents,
                                                      bool chunking = true) {
    CollectionSettings settings;
    settings.chunking = chunking;
    settings.chunk_tokens = 8;  // about a sentence
    settings.chunk_overlap = 0;
    std::vector<PassageTable> passages;
    passages.reserve(documents.size());
    std::vector<DocumentParts> parts;
    for (const Document& document : documents) {
      passages.push_back(make_passages(document, settings, nullptr));
      parts.push_back({&document, &passages.back()});
    }
    auto vectors = encode_documents(parts, chunking, encoder_, {});
    EXPECT_TRUE(vectors.has_value()) << vectors.error().message;
    return vectors ? *vectors : std::vector<std::vector<std::vector<float>>>{};
  }
  WordEncoder encoder_{"words", "1", 16};
};

TEST_F(EncodeDocuments, TheOnlyPassageSharesTheVectorOfTheWholeText) {
  const auto vectors = encode({document_of("Green tea", {"Brewing"}, "Brew at eighty degrees.")});
  // "title, heading, text" twice, and "title, heading".
  EXPECT_EQ(encoder_.encoded, 2U);
  EXPECT_EQ(encoder_.calls, 1U);
  ASSERT_EQ(vectors.size(), 1U);
  ASSERT_EQ(vectors[0].size(), kVectorFields);
  EXPECT_EQ(vectors[0][0], encoded_alone("Green tea\nBrewing\nBrew at eighty degrees.", encoder_));
  EXPECT_EQ(vectors[0][1], encoded_alone("Green tea\nBrewing", encoder_));
  EXPECT_EQ(vectors[0][2], vectors[0][0]);
}

TEST_F(EncodeDocuments, ATextAloneIsEncodedOnceForAllThreeFields) {
  const auto vectors = encode({document_of("", {}, "Let it rest over night.")});
  EXPECT_EQ(encoder_.encoded, 1U);
  ASSERT_EQ(vectors.size(), 1U);
  EXPECT_EQ(vectors[0][0], encoded_alone("Let it rest over night.", encoder_));
  EXPECT_EQ(vectors[0][1], vectors[0][0]);
  EXPECT_EQ(vectors[0][2], vectors[0][0]);
}

TEST_F(EncodeDocuments, EqualTextsOfDifferentDocumentsAreEncodedOnce) {
  const auto vectors = encode({document_of("Soup", {}, "Fry the onions."),
                               document_of("Soup", {}, "Add broth and wine."),
                               document_of("Soup", {}, "Fry the onions.")});
  // Two different whole texts, which are their only passages too, and one title.
  EXPECT_EQ(encoder_.encoded, 3U);
  ASSERT_EQ(vectors.size(), 3U);
  EXPECT_EQ(vectors[0], vectors[2]);
  EXPECT_EQ(vectors[0][1], vectors[1][1]);
  EXPECT_EQ(vectors[1][0], encoded_alone("Soup\nAdd broth and wine.", encoder_));
}

TEST_F(EncodeDocuments, ADocumentInOnePieceIsItsPassageWhateverItsHeadings) {
  const auto vectors = encode({document_of("Tea", {"Green", "Brewing"}, "Wait two minutes.")});
  EXPECT_EQ(encoder_.encoded, 2U);
  EXPECT_EQ(vectors[0][0], encoded_alone("Tea\nGreen\nBrewing\nWait two minutes.", encoder_));
  EXPECT_EQ(vectors[0][2], vectors[0][0]);
}

TEST_F(EncodeDocuments, PiecesHaveVectorsOfTheirOwn) {
  const auto vectors = encode(
      {document_of("Tea", {"Green", "Brewing"}, "Brew at eighty degrees. Wait two minutes.")});
  EXPECT_EQ(encoder_.encoded, 4U);  // the whole, the headings, two pieces
  std::vector<float> pieces = encoded_alone("Tea\nBrewing\nBrew at eighty degrees.", encoder_);
  const std::vector<float> second = encoded_alone("Tea\nBrewing\nWait two minutes.", encoder_);
  pieces.insert(pieces.end(), second.begin(), second.end());
  EXPECT_EQ(vectors[0][2], pieces);
}

TEST_F(EncodeDocuments, WithoutChunkingTheWholeTextIsThePassage) {
  const auto vectors =
      encode({document_of("Tea", {"Green", "Brewing"}, "Wait two minutes.")}, false);
  EXPECT_EQ(encoder_.encoded, 2U);
  EXPECT_EQ(vectors[0][2], vectors[0][0]);
}

}  // namespace
}  // namespace sibyl::answer::internal
