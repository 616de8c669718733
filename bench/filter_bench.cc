// Filters over one sealed segment: row by row from typed metadata, against the scans of typed
// columns. Both in one run, alternating; processor time. The rows are compared too. Prints JSON
// lines.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/random.h"
#include "index/memory_view.h"
#include "store/internal/filter_select.h"
#include "store/internal/typed_metadata.h"

namespace {

using sibyl::base::Random;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Rows of a help desk: a status of few values, tags, a number, a price, a date, an author, and a
/// label that few rows have.
class Tickets final : public sibyl::store::RowSource {
 public:
  explicit Tickets(uint32_t rows) {
    static constexpr const char* kStatus[] = {"open", "closed", "waiting", "rejected"};
    static constexpr const char* kTags[] = {"new", "old", "blue", "urgent", "billing", "network"};
    Random random(1);
    for (uint32_t row = 0; row < rows; ++row) {
      std::string json = fmt::format(
          R"({{"status": "{}", "year": {}, "price": {}.5, "at": "20{:02}-{:02}-{:02}", )"
          R"("author": {{"name": "n{}"}}, "tags": ["{}", "{}"])",
          kStatus[random.below(4)], 1990 + random.below(36), random.below(100'000),
          random.below(25), 1 + random.below(12), 1 + random.below(28), random.below(20'000),
          kTags[random.below(6)], kTags[random.below(6)]);
      json += random.below(1000) == 0 ? R"(, "label": "rare"})" : "}";
      const auto typed = sibyl::store::encode_typed_metadata(json);
      begins_.push_back(typed_.size());
      typed_ += *typed;
    }
    begins_.push_back(typed_.size());
  }
  uint32_t rows() const override { return static_cast<uint32_t>(begins_.size() - 1); }
  uint64_t sequence(uint32_t row) const override { return row + 1; }
  int64_t row_key(uint32_t row) const override { return row + 1; }
  uint64_t content_hash(uint32_t) const override { return 0; }
  std::string_view column(uint32_t row, uint32_t column) const override {
    return column == sibyl::store::kTypedColumn
               ? std::string_view(typed_).substr(begins_[row], begins_[row + 1] - begins_[row])
               : std::string_view();
  }

 private:
  std::string typed_;
  std::vector<size_t> begins_;
};

void compare(const sibyl::store::Segment& segment, const std::string& text) {
  const auto filter = *sibyl::store::Filter::parse(text);
  const sibyl::store::FilterTree& tree = sibyl::store::tree_of(*filter);
  double by_row = 1e9;
  double by_column = 1e9;
  size_t found = 0;
  bool same = true;
  for (int turn = 0; turn < 3; ++turn) {
    double start = cpu_seconds();
    sibyl::index::RowSet rows(segment.rows());
    for (uint32_t row = 0; row < segment.rows(); ++row) {
      if (tree.matches_typed(segment.column(row, sibyl::store::kTypedColumn))) {
        rows.insert(row);
      }
    }
    by_row = std::min(by_row, cpu_seconds() - start);
    start = cpu_seconds();
    const sibyl::index::RowSet scanned = sibyl::store::select_rows(tree, segment);
    by_column = std::min(by_column, cpu_seconds() - start);
    found = scanned.count();
    same = same && std::ranges::equal(rows.words(), scanned.words());
  }
  std::printf(
      "{\"bench\": \"filter\", \"rows\": %u, \"filter\": \"%s\", \"share\": %.5f, "
      "\"by_row_cpu_ms\": %.2f, \"by_column_cpu_ms\": %.3f, \"same\": %s}\n",
      segment.rows(), text.c_str(),
      static_cast<double>(found) / static_cast<double>(segment.rows()), by_row * 1e3,
      by_column * 1e3, same ? "true" : "false");
}

}  // namespace

/// filter_bench [ROWS]
int main(int count, char** arguments) {
  const Tickets tickets(count > 1 ? static_cast<uint32_t>(std::strtoul(arguments[1], nullptr, 10))
                                  : 1'000'000);
  double start = cpu_seconds();
  const std::string columns = sibyl::store::build_typed_columns(tickets.rows(), [&](uint32_t row) {
    return tickets.column(row, sibyl::store::kTypedColumn);
  });
  const double build = cpu_seconds() - start;
  std::string bytes;
  const auto written =
      sibyl::store::write_rows(tickets, 0, [&](std::string_view part) -> sibyl::Result<void> {
        bytes += part;
        return {};
      });
  start = cpu_seconds();
  const auto segment =
      sibyl::store::Segment::open(sibyl::index::memory_view(std::move(bytes)), "bench", 0);
  if (!written || !segment) {
    std::fprintf(stderr, "the segment could not be made\n");
    return 1;
  }
  std::printf(
      "{\"bench\": \"filter\", \"rows\": %u, \"column_bytes_per_row\": %.1f, "
      "\"build_cpu_s\": %.2f, \"open_cpu_s\": %.2f}\n",
      tickets.rows(), static_cast<double>(columns.size()) / tickets.rows(), build,
      cpu_seconds() - start);
  for (const char* filter :
       {"status = 'open'", "year >= 2020", "price < 1000", "at >= '2020-01-01'",
        "author.name = 'n77'", "author.name in ['n1', 'n22', 'n333']", "author.name contains '99'",
        "tags contains 'urgent'", "label exists", "status != 'open'",
        "status = 'open' and (year >= 2020 or not tags contains 'old')"}) {
    compare(**segment, filter);
  }
  return 0;
}
