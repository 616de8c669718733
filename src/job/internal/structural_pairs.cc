#include "job/internal/structural_pairs.h"

#include <utility>

#include "text/sentences.h"

namespace sibyl::job::internal {
namespace {

constexpr size_t kSentenceBytesMin = 20;
constexpr size_t kSentenceBytesMax = 400;

bool blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

std::string without(const Passage& passage, text::Range sentence) {
  std::string rest = passage.heading.empty() ? std::string() : passage.heading + "\n";
  rest.append(passage.body, 0, sentence.begin);
  rest.append(passage.body, sentence.end, std::string::npos);
  return rest;
}

std::vector<text::Range> usable_sentences(const std::string& body) {
  std::vector<text::Range> usable;
  for (const text::Range& range : text::split_sentences(body)) {
    const size_t bytes = range.end - range.begin;
    if (bytes >= kSentenceBytesMin && bytes <= kSentenceBytesMax) {
      usable.push_back(range);
    }
  }
  return usable;
}

}  // namespace

std::vector<ColdPair> structural_pairs(const Passage& passage, uint32_t index,
                                       const ColdOptions& options, base::Random& random) {
  std::vector<ColdPair> pairs;
  if (blank(passage.body)) {
    return pairs;
  }
  if (!blank(passage.last_heading)) {
    pairs.push_back({passage.last_heading, index, passage.body});
  }
  if (options.all_headings && !blank(passage.heading) && passage.heading != passage.last_heading) {
    pairs.push_back({passage.heading, index, passage.body});
  }
  std::vector<text::Range> sentences = usable_sentences(passage.body);
  random.shuffle(sentences);
  size_t taken = 0;
  for (const text::Range& sentence : sentences) {
    if (taken == options.sentences) {
      break;
    }
    std::string rest = without(passage, sentence);
    // A passage of one sentence has no rest to find.
    const std::string_view rest_body = std::string_view(rest).substr(passage.heading.size());
    if (blank(rest_body)) {
      continue;
    }
    ColdPair pair{passage.body.substr(sentence.begin, sentence.end - sentence.begin), index, {}};
    if (random.uniform() >= options.whole_share) {
      pair.text = std::move(rest);
    }
    pairs.push_back(std::move(pair));
    ++taken;
  }
  return pairs;
}

}  // namespace sibyl::job::internal
