// The store under load, at 384 dimensions: durable inserts a second, the time of searches while the
// collection is written, indexed and compacted, and the time from opening to the first answer. One
// JSON line each; README.md says what is compared.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
#include "store/database.h"

namespace {

using namespace sibyl;

constexpr size_t kDimension = 384;
constexpr size_t kCentres = 500;

double now_s() {
  return static_cast<double>(base::system_clock().steady_us()) * 1e-6;
}

/// Unit vectors in clusters, as encoders make them: the same number gives the same vector.
class Vectors {
 public:
  Vectors() : centres_(kCentres * kDimension) {
    base::Random random(1);
    for (float& value : centres_) {
      value = static_cast<float>(random.normal());
    }
  }
  std::vector<float> make(uint64_t number) const {
    base::Random random(number + 2);
    const float* centre = centres_.data() + random.below(kCentres) * kDimension;
    std::vector<float> vector(kDimension);
    double norm = 0;
    for (size_t i = 0; i < kDimension; ++i) {
      vector[i] = centre[i] + static_cast<float>(random.normal());
      norm += double{vector[i]} * double{vector[i]};
    }
    for (float& value : vector) {
      value = static_cast<float>(value / std::sqrt(norm));
    }
    return vector;
  }

 private:
  std::vector<float> centres_;
};

template <class T>
T must(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "store_bench: {}\n", result.error().message);
    std::exit(1);
  }
  return std::move(*result);
}
void must(const Result<void>& result) {
  if (!result) {
    fmt::print(stderr, "store_bench: {}\n", result.error().message);
    std::exit(1);
  }
}

store::Schema schema() {
  store::Schema schema;
  schema.text_fields = {"body"};
  schema.vector_fields = {{"document", kDimension}};
  return schema;
}

store::Change make_row(const Vectors& vectors, uint64_t number) {
  store::Change change;
  change.row.id = "row-" + std::to_string(number);
  change.row.source = fmt::format(R"({{"id":"row-{}"}})", number);
  change.row.texts = {"a few words of row " + std::to_string(number)};
  change.row.vectors = {vectors.make(number)};
  return change;
}

void add_rows(store::Collection& rows, const Vectors& vectors, uint64_t first, uint64_t count,
              uint64_t batch) {
  for (uint64_t at = first; at < first + count; at += batch) {
    std::vector<store::Change> changes;
    for (uint64_t i = at; i < std::min(at + batch, first + count); ++i) {
      changes.push_back(make_row(vectors, i));
    }
    must(rows.write(std::move(changes)));
  }
}

/// Rows a second until every one was acknowledged; the vectors are made before the time starts.
void bench_inserts(const std::string& folder, uint64_t count, uint64_t batch, unsigned writers) {
  const Vectors vectors;
  auto database = must(store::Database::open(folder, {}));
  const auto rows = must(database->create("inserts", schema(), ""));
  std::vector<std::vector<std::vector<store::Change>>> work(writers);
  for (unsigned writer = 0; writer < writers; ++writer) {
    for (uint64_t at = writer * batch; at < count; at += writers * batch) {
      auto& changes = work[writer].emplace_back();
      for (uint64_t i = at; i < std::min(at + batch, count); ++i) {
        changes.push_back(make_row(vectors, i));
      }
    }
  }
  const double start = now_s();
  std::vector<std::jthread> threads;
  for (unsigned writer = 0; writer < writers; ++writer) {
    threads.emplace_back([&, writer] {
      for (auto& changes : work[writer]) {
        must(rows->write(std::move(changes)));
      }
    });
  }
  threads.clear();
  fmt::print(
      R"({{"bench":"store","what":"inserts","rows":{},"batch":{},"writers":{},"rows_per_s":{:.0f}}})"
      "\n",
      count, batch, writers, static_cast<double>(count) / (now_s() - start));
}

double thread_cpu_ms() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

/// What searches took, in milliseconds: by the clock, and of this thread's processor. What the
/// first has more is waiting: for the processor, a lock, the disk.
struct SearchTimes {
  std::vector<double> wall;
  std::vector<double> cpu;
};

SearchTimes search_times(const store::Collection& rows, const Vectors& vectors,
                         const std::function<bool()>& stop) {
  SearchTimes times;
  for (uint64_t i = 0; !stop(); ++i) {
    const std::vector<float> query = vectors.make(1'000'000'000 + i);
    const double cpu = thread_cpu_ms();
    const double start = now_s();
    {
      const auto snapshot = rows.snapshot();
      const auto hits = must(snapshot->search_vectors(0, query, 10, nullptr));
      for (const store::Hit& hit : hits) {
        must(snapshot->row(hit.ref));
      }
    }
    times.wall.push_back((now_s() - start) * 1e3);
    times.cpu.push_back(thread_cpu_ms() - cpu);
  }
  return times;
}

double part_of(std::vector<double>& values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

double report_times(const std::string& what, SearchTimes times, double idle_p99) {
  const double p99 = part_of(times.wall, 0.99);
  fmt::print(R"({{"bench":"store","what":"searches while {}","searches":{},"p50_ms":{:.3f},)"
             R"("p99_ms":{:.3f},"p999_ms":{:.3f},"max_ms":{:.2f},"cpu_p50_ms":{:.3f},)"
             R"("cpu_p99_ms":{:.3f},"p99_over_idle":{:.2f}}})"
             "\n",
             what, times.wall.size(), part_of(times.wall, 0.5), p99, part_of(times.wall, 0.999),
             part_of(times.wall, 1), part_of(times.cpu, 0.5), part_of(times.cpu, 0.99),
             idle_p99 == 0 ? 1.0 : p99 / idle_p99);
  std::fflush(stdout);
  return p99;
}

double report_idle(const store::Collection& rows, const Vectors& vectors, double seconds,
                   double idle_p99) {
  const double end = now_s() + seconds;
  return report_times("idle", search_times(rows, vectors, [&] { return now_s() >= end; }),
                      idle_p99);
}

/// Searches in this thread while `work` runs in another.
void bench_while(const std::string& what, const store::Collection& rows, const Vectors& vectors,
                 double idle_p99, const std::function<void()>& work) {
  std::atomic<bool> done = false;
  std::jthread worker([&] {
    work();
    done = true;
  });
  report_times(what, search_times(rows, vectors, [&] { return done.load(); }), idle_p99);
}

/// Rows by the hundred as fast as they are taken; then by the thousand until the indexes cover
/// them; then everything into one segment. The second idle time tells what size alone costs.
void bench_latency(const std::string& folder, uint64_t count) {
  const Vectors vectors;
  auto database = must(store::Database::open(folder, {}));
  const auto rows = must(database->create("latency", schema(), ""));
  add_rows(*rows, vectors, 0, count, 1000);
  database->settle();
  report_idle(*rows, vectors, 1, 0);  // caches and huge pages
  const double idle_p99 = report_idle(*rows, vectors, 8, 0);
  bench_while("inserting", *rows, vectors, idle_p99,
              [&] { add_rows(*rows, vectors, count, count / 4, 100); });
  bench_while("indexing", *rows, vectors, idle_p99, [&] {
    add_rows(*rows, vectors, count * 5 / 4, count / 4, 1000);
    database->settle();
  });
  bench_while("compacting", *rows, vectors, idle_p99, [&] {
    must(rows->compact({}, {}));
    database->settle();
  });
  report_idle(*rows, vectors, 4, idle_p99);
}

void bench_fill(const std::string& folder, uint64_t count) {
  const Vectors vectors;
  auto database = must(store::Database::open(folder, {}));
  const auto rows = must(database->create("open", schema(), ""));
  add_rows(*rows, vectors, 0, count, 2000);
  must(rows->compact({}, {}));
  database->settle();
  const auto statistics = rows->statistics();
  const auto& field = statistics.vector_fields.front();
  fmt::print(R"({{"bench":"store","what":"filled","rows":{},"segments":{},"index":"{}",)"
             R"("indexed":{},"disk_bytes":{}}})"
             "\n",
             statistics.live_rows, statistics.sealed_segments, field.index, field.indexed_vectors,
             statistics.disk_bytes);
}

/// From nothing to the first answer, of a folder that `fill` made.
void bench_open(const std::string& folder) {
  const Vectors vectors;
  const std::vector<float> query = vectors.make(1'000'000'000);
  const double start = now_s();
  const auto database = must(store::Database::open(folder, {}));
  const auto rows = must(database->find("open"));
  const double opened = now_s();
  const auto snapshot = rows->snapshot();
  const auto hits = must(snapshot->search_vectors(0, query, 10, nullptr));
  must(snapshot->row(hits.front().ref));
  const double answered = now_s();
  database->settle();
  const double settled = now_s();
  must(rows->snapshot()->search_vectors(0, query, 10, nullptr));
  fmt::print(R"({{"bench":"store","what":"open","rows":{},"open_s":{:.3f},"first_answer_s":{:.3f},)"
             R"("all_checked_s":{:.3f},"next_answer_ms":{:.2f}}})"
             "\n",
             snapshot->live_rows(), opened - start, answered - start, settled - start,
             (now_s() - settled) * 1e3);
}

uint64_t number(const char* text) {
  uint64_t value = 0;
  std::from_chars(text, text + std::string_view(text).size(), value);
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 5 && arguments[0] == "inserts") {
    bench_inserts(arguments[1], number(argv[3]), number(argv[4]),
                  static_cast<unsigned>(number(argv[5])));
  } else if (arguments.size() == 3 && arguments[0] == "latency") {
    bench_latency(arguments[1], number(argv[3]));
  } else if (arguments.size() == 3 && arguments[0] == "fill") {
    bench_fill(arguments[1], number(argv[3]));
  } else if (arguments.size() == 2 && arguments[0] == "open") {
    bench_open(arguments[1]);
  } else {
    fmt::print(stderr,
               "store_bench inserts FOLDER ROWS BATCH WRITERS | latency FOLDER ROWS | fill FOLDER "
               "ROWS | open FOLDER\n");
    return 64;
  }
  return 0;
}
