#include "text/internal/unigram.h"

#include <algorithm>
#include <limits>

#include "text/utf8.h"

namespace sibyl::text {

namespace {

// SentencePiece's penalty: an unknown character is this much worse than the worst piece.
constexpr double kUnknownPenalty = 10;

double lowest_of(const std::vector<double>& scores) {
  return scores.empty() ? 0 : *std::min_element(scores.begin(), scores.end());
}

}  // namespace

/// Hands pieces on, neighbouring unknown ones as one.
class UnigramModel::Run {
 public:
  Run(const UnigramModel& model, const WordBuffer& text, TokenSink& sink)
      : model_(model), text_(text), sink_(sink) {}

  void add(int32_t id, size_t begin, size_t end) {
    if (id == model_.settings_.unknown_id) {
      unknown_begin_ = unknown_end_ == begin && open_ ? unknown_begin_ : begin;
      unknown_end_ = end;
      open_ = true;
      return;
    }
    close();
    sink_.add(id, text_, begin, end);
  }

  void close() {
    if (!open_) {
      return;
    }
    open_ = false;
    const std::string_view part =
        std::string_view(text_.bytes).substr(unknown_begin_, unknown_end_ - unknown_begin_);
    const int32_t known = model_.vocabulary_->find(part);
    if (known < 0 && model_.settings_.byte_fallback && add_bytes(part)) {
      return;
    }
    sink_.add(known >= 0 ? known : model_.settings_.unknown_id, text_, unknown_begin_,
              unknown_end_);
  }

 private:
  bool add_bytes(std::string_view part) {
    const auto id_of = [this](char byte) {
      return model_.settings_.byte_ids[static_cast<unsigned char>(byte)];
    };
    if (std::any_of(part.begin(), part.end(), [&](char byte) { return id_of(byte) < 0; })) {
      return false;
    }
    for (const char byte : part) {
      sink_.add(id_of(byte), text_, unknown_begin_, unknown_end_);
    }
    return true;
  }

  const UnigramModel& model_;
  const WordBuffer& text_;
  TokenSink& sink_;
  size_t unknown_begin_ = 0;
  size_t unknown_end_ = 0;
  bool open_ = false;
};

UnigramModel::UnigramModel(std::shared_ptr<const Trie> vocabulary, std::vector<double> scores,
                           Settings settings)
    : vocabulary_(std::move(vocabulary)),
      scores_(std::move(scores)),
      settings_(std::move(settings)),
      unknown_score_(lowest_of(scores_) - kUnknownPenalty) {}

size_t UnigramModel::extend(std::string_view text, size_t at, size_t base,
                            std::vector<Node>& nodes) const {
  const double score = nodes[at - base].score;
  size_t next = at;
  next_code_point(text, next);
  const auto offer = [&](size_t end, double total, int32_t id) {
    if (end - base >= nodes.size()) {
      nodes.resize(end - base + 1);
    }
    Node& node = nodes[end - base];
    if (node.start == SIZE_MAX || total > node.score) {
      node = {total, at, id};
    }
  };
  size_t reach = next;
  bool single = false;
  Trie::Node node = Trie::kRoot;
  for (size_t i = at; i < text.size(); ++i) {
    node = vocabulary_->child(node, text[i]);
    if (node == Trie::kNone) {
      break;
    }
    const int32_t id = vocabulary_->value(node);
    if (id >= 0) {
      offer(i + 1, score + scores_[static_cast<size_t>(id)], id);
      single = single || i + 1 == next;
      reach = std::max(reach, i + 1);
    }
  }
  if (!single) {
    offer(next, score + unknown_score_, settings_.unknown_id);
  }
  return reach;
}

void UnigramModel::encode(const WordBuffer& buffer, size_t begin, size_t end,
                          TokenSink& sink) const {
  // Every path passes a place that no piece spans, so what lies before it is settled there: memory
  // stays small and a cut text is not read to its end. Scores run on, so sums round as in one go.
  const std::string_view text = std::string_view(buffer.bytes).substr(0, end);
  thread_local std::vector<Node> nodes;
  thread_local std::vector<size_t> ends;
  Run run(*this, buffer, sink);
  double score = 0;
  size_t base = begin;
  while (base < end && !sink.full()) {
    nodes.assign(1, Node{score, SIZE_MAX, -1});
    size_t reach = base;
    size_t at = base;
    do {
      reach = std::max(reach, extend(text, at, base, nodes));
      next_code_point(text, at);
    } while (at < reach);
    ends.clear();
    for (size_t place = at; place > base; place = nodes[place - base].start) {
      ends.push_back(place);
    }
    size_t from = base;
    for (size_t i = ends.size(); i > 0; --i) {
      run.add(nodes[ends[i - 1] - base].id, from, ends[i - 1]);
      from = ends[i - 1];
    }
    score = nodes[at - base].score;
    base = at;
  }
  run.close();
}

}  // namespace sibyl::text
