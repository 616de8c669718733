#include "train/internal/sampler.h"

#include <algorithm>
#include <list>
#include <unordered_set>

#include "base/check.h"
#include "base/random.h"

namespace sibyl::train {
namespace {

/// Examples of one document that go into the same batch.
struct Group {
  uint32_t document = 0;
  std::vector<uint32_t> questions;
};

/// Questions of one document in one batch at most: the rest makes groups of its own, so that a
/// passage with a hundred questions does not fill a batch that then has no negatives.
size_t group_questions_max(const BatchLimits& limits) {
  return std::max<size_t>(2, limits.questions_max / 8);
}

std::vector<Group> make_groups(const StageItems& items, const BatchLimits& limits,
                               base::Random& random) {
  std::vector<std::vector<uint32_t>> asked(items.documents.size());
  std::vector<uint32_t> order(items.examples.size());
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = static_cast<uint32_t>(i);
  }
  random.shuffle(order);
  for (const uint32_t i : order) {
    const StageItems::Example& example = items.examples[i];
    const auto& documents = items.questions[example.question].documents;
    const auto document = example.document >= 0 ? static_cast<uint32_t>(example.document)
                                                : documents[random.below(documents.size())];
    asked[document].push_back(example.question);
  }
  const size_t most = group_questions_max(limits);
  std::vector<Group> groups;
  for (size_t document = 0; document < asked.size(); ++document) {
    const auto& questions = asked[document];
    for (size_t first = 0; first < questions.size(); first += most) {
      const size_t last = std::min(first + most, questions.size());
      groups.push_back({static_cast<uint32_t>(document),
                        {questions.begin() + static_cast<ptrdiff_t>(first),
                         questions.begin() + static_cast<ptrdiff_t>(last)}});
    }
  }
  random.shuffle(groups);
  return groups;
}

/// Fills batches from the front of the list; a group whose passage is already in the batch waits
/// for the next one, as long as there are others among the next few.
class Filler {
 public:
  Filler(const StageItems& items, const BatchLimits& limits, std::vector<Group> groups)
      : items_(items),
        limits_(limits),
        groups_(std::make_move_iterator(groups.begin()), std::make_move_iterator(groups.end())) {}

  std::vector<std::vector<Group>> fill() {
    std::vector<std::vector<Group>> batches;
    while (!groups_.empty()) {
      batches.push_back(next());
    }
    return batches;
  }

 private:
  std::vector<Group> next() {
    std::vector<Group> batch;
    std::unordered_set<uint32_t> passages;
    size_t questions = 0;
    size_t looks = 4 * limits_.documents;
    for (auto group = groups_.begin();
         group != groups_.end() && batch.size() < limits_.documents && looks > 0; --looks) {
      const uint32_t passage = items_.documents[group->document].passage;
      const bool full = questions + group->questions.size() > limits_.questions_max;
      if (!batch.empty() && (full || passages.contains(passage))) {
        ++group;
        continue;
      }
      passages.insert(passage);
      questions += group->questions.size();
      batch.push_back(std::move(*group));
      group = groups_.erase(group);
    }
    return batch;
  }

  const StageItems& items_;
  const BatchLimits& limits_;
  std::list<Group> groups_;
};

/// A small last batch would have few negatives: it shares evenly with the one before.
void balance_tail(std::vector<std::vector<Group>>& batches, const BatchLimits& limits) {
  if (batches.size() < 2 || batches.back().size() * 2 >= limits.documents) {
    return;
  }
  auto& last = batches.back();
  auto& before = batches[batches.size() - 2];
  while (last.size() + 1 < before.size()) {
    last.push_back(std::move(before.back()));
    before.pop_back();
  }
}

template <class T>
void add_once(std::vector<T>& list, std::unordered_set<T>& seen, T value) {
  if (seen.insert(value).second) {
    list.push_back(value);
  }
}

}  // namespace

std::vector<Batch> make_epoch(const StageItems& items, const BatchLimits& limits, uint64_t seed,
                              size_t epoch) {
  base::check(limits.documents >= 2 && limits.questions_max >= 2,
              "a batch has room for a negative");
  base::Random random(seed, epoch);
  auto filled = Filler(items, limits, make_groups(items, limits, random)).fill();
  balance_tail(filled, limits);
  std::vector<Batch> batches;
  for (const auto& groups : filled) {
    Batch batch;
    std::unordered_set<uint32_t> documents;
    std::unordered_set<uint32_t> questions;
    for (const Group& group : groups) {
      add_once(batch.documents, documents, group.document);
      for (const uint32_t question : group.questions) {
        add_once(batch.questions, questions, question);
      }
    }
    batches.push_back(std::move(batch));
  }
  return batches;
}

std::vector<uint8_t> positive_mask(const StageItems& items, const Batch& batch) {
  std::vector<uint8_t> mask;
  mask.reserve(batch.questions.size() * batch.documents.size());
  for (const uint32_t question : batch.questions) {
    const auto& positives = items.questions[question].positives;
    for (const uint32_t document : batch.documents) {
      mask.push_back(std::ranges::binary_search(positives, items.documents[document].passage) ? 1
                                                                                              : 0);
    }
  }
  return mask;
}

}  // namespace sibyl::train
