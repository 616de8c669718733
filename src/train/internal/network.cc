#include "train/internal/network.h"

#include <algorithm>

#include "base/check.h"

namespace sibyl::train {

void Network::begin_rows(std::span<const int32_t> ids) {
  RowTable& rows = table();
  local_row_.assign(static_cast<size_t>(rows.value.size(0)), -1);
  std::vector<int64_t> distinct;
  for (const int32_t id : ids) {
    base::check(id >= 0 && static_cast<size_t>(id) < local_row_.size(), "token id is in the table");
    int32_t& slot = local_row_[static_cast<size_t>(id)];
    if (slot < 0) {
      slot = 0;
      distinct.push_back(id);
    }
  }
  std::ranges::sort(distinct);
  for (size_t i = 0; i < distinct.size(); ++i) {
    local_row_[static_cast<size_t>(distinct[i])] = static_cast<int32_t>(i);
  }
  const c10::NoGradGuard no_grad;
  rows.rows = at::tensor(distinct, at::kLong).to(rows.value.device());
  rows.leaf = rows.value.index_select(0, rows.rows).requires_grad_(true);
}

void Network::end_rows() {
  table().rows.reset();
  table().leaf.reset();
}

at::Tensor Network::token_rows(const MicroBatch& batch, bool training) {
  at::Tensor out = at::empty({static_cast<int64_t>(batch.ids.size())}, at::kInt);
  auto* to = out.data_ptr<int32_t>();
  for (size_t i = 0; i < batch.ids.size(); ++i) {
    to[i] = training ? local_row_[static_cast<size_t>(batch.ids[i])] : batch.ids[i];
  }
  return out.to(table().value.device());
}

at::Tensor Network::embed_tokens(const MicroBatch& batch, bool training) {
  RowTable& rows = table();
  return at::embedding(training ? rows.leaf : rows.value, token_rows(batch, training));
}

}  // namespace sibyl::train
