#include "store/internal/tail.h"

#include <algorithm>

#include "base/bytes.h"

namespace sibyl::store {

TailTerms::TailTerms(index::TermCounts terms) : terms_(std::move(terms)) {
  places_.reserve(terms_.counts.size());
  for (uint32_t i = 0; i < terms_.counts.size(); ++i) {
    places_.push_back({base::hash64(terms_.counts[i].first), i});
  }
  std::sort(places_.begin(), places_.end(),
            [](const Place& a, const Place& b) { return a.hash < b.hash; });
}

uint32_t TailTerms::frequency(std::string_view term, uint64_t hash) const {
  auto place = std::lower_bound(places_.begin(), places_.end(), hash,
                                [](const Place& a, uint64_t wanted) { return a.hash < wanted; });
  for (; place != places_.end() && place->hash == hash; ++place) {
    if (terms_.counts[place->number].first == term) {
      return terms_.counts[place->number].second;
    }
  }
  return 0;
}

}  // namespace sibyl::store
