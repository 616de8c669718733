#include "index/internal/neighbour_work.h"

#include <algorithm>
#include <atomic>

namespace sibyl::index {
namespace {
constexpr const char* kCancelled = "the build of the neighbour graph was cancelled";
}  // namespace

NeighbourWork::NeighbourWork(unsigned threads, const BuildProgress& progress)
    : workers_(std::max(1U, threads)), progress_(progress), caller_(std::this_thread::get_id()) {
  if (workers_ > 1) {
    // The caller works too.
    pool_ = std::make_unique<base::ThreadPool>(workers_ - 1, 1);
  }
}

bool NeighbourWork::go_on(double share) {
  return !progress_ || progress_(std::min(1.0, share));
}

Result<void> NeighbourWork::for_each(size_t count, double share,
                                     const std::function<void(size_t, size_t)>& work) {
  std::atomic<size_t> next{0};
  std::atomic<size_t> ended{0};
  std::atomic<bool> cancelled{!go_on(done_)};
  const std::function<void(size_t)> run = [&](size_t worker) {
    for (size_t i = next.fetch_add(1); i < count && !cancelled; i = next.fetch_add(1)) {
      work(i, worker);
      const size_t of_all = ended.fetch_add(1) + 1;
      const double part = static_cast<double>(of_all) / static_cast<double>(count);
      if (std::this_thread::get_id() == caller_ && !go_on(done_ + share * part)) {
        cancelled = true;
      }
    }
  };
  if (pool_ == nullptr) {
    run(0);
  } else {
    pool_->for_each(workers_, run);
  }
  if (cancelled) {
    return fail(Code::Interrupted, "{}", kCancelled);
  }
  done_ += share;
  return {};
}

Result<void> NeighbourWork::finish() {
  if (!go_on(1)) {
    return fail(Code::Interrupted, "{}", kCancelled);
  }
  return {};
}

Result<void> NeighbourWork::for_blocks(size_t count, size_t block, double share,
                                       const std::function<void(size_t, size_t, size_t)>& work) {
  return for_each((count + block - 1) / block, share, [&](size_t i, size_t worker) {
    work(i * block, std::min(count, (i + 1) * block), worker);
  });
}

}  // namespace sibyl::index
