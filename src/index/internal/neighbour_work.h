#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <thread>

#include "base/result.h"
#include "base/thread_pool.h"
#include "index/neighbour_graph.h"

namespace sibyl::index {

/// The threads of one build and its progress. Used by one thread, which `progress` is called from.
class NeighbourWork {
 public:
  NeighbourWork(unsigned threads, const BuildProgress& progress);

  /// Calls work(i, worker) for every i in [0, count), in any order and on any thread; worker <
  /// workers() names a place for scratch that no other call uses meanwhile. Then `share` more of
  /// the build is done. Interrupted when progress says so; some i were then left out.
  Result<void> for_each(size_t count, double share,
                        const std::function<void(size_t i, size_t worker)>& work);
  /// The same over blocks [first, last) of at most `block` numbers.
  Result<void> for_blocks(
      size_t count, size_t block, double share,
      const std::function<void(size_t first, size_t last, size_t worker)>& work);
  /// Reports that all is done.
  Result<void> finish();
  size_t workers() const { return workers_; }

 private:
  bool go_on(double share);

  size_t workers_;
  const BuildProgress& progress_;
  std::thread::id caller_;
  double done_ = 0;
  std::unique_ptr<base::ThreadPool> pool_;
};

}  // namespace sibyl::index
