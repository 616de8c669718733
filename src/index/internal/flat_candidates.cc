#include "index/internal/flat_candidates.h"

#include <algorithm>
#include <functional>

namespace sibyl::index {

FlatCandidates::FlatCandidates(size_t k, bool distinct, float floor)
    : k_(k), distinct_(distinct), capacity_(2 * k + 32), threshold_(floor) {}

void FlatCandidates::add(const Item& item) {
  if (item.highest() < threshold_) {
    return;
  }
  items_.push_back(item);
  if (items_.size() >= capacity_) {
    settle();
    // Many equal scores: the work of settling stays in proportion to what was added.
    capacity_ = std::max(capacity_, 2 * items_.size());
  }
}

void FlatCandidates::settle() {
  lowest_.clear();
  if (distinct_) {
    std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
      return a.row != b.row ? a.row < b.row : a.lowest() > b.lowest();
    });
  }
  for (size_t i = 0; i < items_.size(); ++i) {
    if (!distinct_ || i == 0 || items_[i].row != items_[i - 1].row) {
      lowest_.push_back(items_[i].lowest());
    }
  }
  if (lowest_.size() < k_) {
    return;
  }
  const auto kth = lowest_.begin() + static_cast<ptrdiff_t>(k_ - 1);
  std::nth_element(lowest_.begin(), kth, lowest_.end(), std::greater<>());
  threshold_ = std::max(threshold_, *kth);
  std::erase_if(items_, [this](const Item& item) { return item.highest() < threshold_; });
}

}  // namespace sibyl::index
