#include "train/internal/stage_items.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace sibyl::train {
namespace {

void sort_unique(std::vector<uint32_t>& values) {
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
}

/// Collects distinct documents and questions with their texts.
class Collector {
 public:
  Collector(StageItems& items, const std::vector<uint32_t>& canonical)
      : items_(items), canonical_(canonical) {}

  uint32_t document(uint32_t passage, std::string_view text) {
    const uint32_t owner = canonical_[passage];
    auto& known = documents_[owner];
    for (const uint32_t index : known) {
      if (document_texts[index] == text) {
        return index;
      }
    }
    const auto index = static_cast<uint32_t>(items_.documents.size());
    known.push_back(index);
    items_.documents.push_back({owner});
    document_texts.push_back(text);
    return index;
  }

  uint32_t question(std::string_view text) {
    const auto [entry, added] =
        questions_.emplace(text, static_cast<uint32_t>(items_.questions.size()));
    if (added) {
      items_.questions.emplace_back();
      question_texts.push_back(text);
    }
    return entry->second;
  }

  void link(uint32_t question, uint32_t document) {
    items_.questions[question].positives.push_back(items_.documents[document].passage);
    items_.questions[question].documents.push_back(document);
  }

  std::vector<std::string_view> document_texts;
  std::vector<std::string_view> question_texts;

 private:
  StageItems& items_;
  const std::vector<uint32_t>& canonical_;
  std::unordered_map<uint32_t, std::vector<uint32_t>> documents_;
  std::unordered_map<std::string_view, uint32_t> questions_;
};

void collect_labels(const Dataset& data, const std::vector<uint32_t>& canonical,
                    Collector& collector, StageItems& items) {
  for (const LabelledQuestion& pair : data.pairs) {
    const size_t known = items.questions.size();
    const uint32_t question = collector.question(pair.question);
    for (const uint32_t passage : pair.passages) {
      const uint32_t owner = canonical[passage];
      collector.link(question, collector.document(owner, data.passages[owner]));
    }
    if (question == known) {
      items.examples.push_back({question, -1});
    }
  }
}

void collect_cold(const Dataset& data, const std::vector<uint32_t>& canonical, Collector& collector,
                  StageItems& items) {
  for (const ColdPair& pair : data.cold) {
    const uint32_t owner = canonical[pair.passage];
    const std::string_view text = pair.text ? std::string_view(*pair.text) : data.passages[owner];
    const uint32_t question = collector.question(pair.question);
    const uint32_t document = collector.document(owner, text);
    const auto& linked = items.questions[question].documents;
    if (std::ranges::find(linked, document) == linked.end()) {
      collector.link(question, document);
      items.examples.push_back({question, document});
    }
  }
}

}  // namespace

std::vector<uint32_t> canonical_passages(const std::vector<std::string>& passages) {
  std::unordered_map<std::string, uint32_t> first;
  std::vector<uint32_t> out;
  out.reserve(passages.size());
  for (size_t i = 0; i < passages.size(); ++i) {
    const auto index = static_cast<uint32_t>(i);
    out.push_back(first.emplace(normalized_text(passages[i]), index).first->second);
  }
  return out;
}

StageItems make_stage_items(Stage stage, const Dataset& data,
                            const std::vector<uint32_t>& canonical,
                            const text::Tokenizer& tokenizer, const TokenizeRule& question_rule,
                            const TokenizeRule& passage_rule) {
  StageItems items;
  Collector collector(items, canonical);
  if (stage == Stage::Labels) {
    collect_labels(data, canonical, collector, items);
  } else {
    collect_cold(data, canonical, collector, items);
  }
  for (StageItems::Question& question : items.questions) {
    sort_unique(question.positives);
    sort_unique(question.documents);
  }
  items.document_tokens = tokenize_all(tokenizer, collector.document_texts, passage_rule);
  items.question_tokens = tokenize_all(tokenizer, collector.question_texts, question_rule);
  return items;
}

}  // namespace sibyl::train
