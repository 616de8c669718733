#pragma once

// For the crash and fault tests: a script of everything that a collection does, with background
// work at chosen moments and writes in the middle of it, and what its caller knows when it ends.

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "store/internal/crash_file_system.h"
#include "store/internal/store_fixture.h"

namespace sibyl::store {

struct Step {
  enum class Kind { Write, Seal, Compact, Settings, SwitchModel, Reopen, Background };
  Kind kind = Kind::Write;
  std::vector<Change> changes;
  /// Written while the step writes its files: at its n-th call, when that is not 0.
  std::vector<Change> meanwhile;
  uint64_t at_call = 0;
};

/// Small enough that a short script seals, merges and builds indexes.
inline DatabaseOptions crash_options() {
  DatabaseOptions options = test_options(5);
  options.merge_segments = 3;
  options.flat_vectors_min = 12;
  options.graph_vectors_min = 24;
  return options;
}

inline std::vector<Step> make_steps(uint64_t seed, size_t batches, bool with_meanwhile) {
  using Kind = Step::Kind;
  static constexpr Kind kKinds[] = {Kind::Seal,        Kind::Compact,    Kind::Settings,
                                    Kind::SwitchModel, Kind::Reopen,     Kind::Background,
                                    Kind::Background,  Kind::Background, Kind::Background};
  std::vector<Step> steps;
  base::Random random(seed);
  auto script = test_script(seed, batches, 12);
  auto meanwhile = test_script(seed + 1000, batches, 12);
  for (size_t i = 0; i < batches; ++i) {
    steps.push_back({Kind::Write, std::move(script[i]), {}, 0});
    Step step;
    step.kind = kKinds[random.below(std::size(kKinds))];
    if (with_meanwhile && random.below(2) == 0) {
      step.meanwhile = std::move(meanwhile[i]);
      // Versions of their own, so that no two rows are the same.
      for (Change& change : step.meanwhile) {
        if (change.kind == Change::Kind::Put) {
          change.row = test_row(change.row.id, change.row.content_hash + 5000);
        }
      }
      step.at_call = 1 + random.below(12);
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

inline Result<std::vector<std::vector<std::vector<float>>>> make_test_vectors(
    std::span<const RowView> rows) {
  return std::vector<std::vector<std::vector<float>>>(rows.size(), {{1, 2, 3, 4}});
}

using Model = std::map<std::string, std::string>;

/// What the caller knows.
struct Known {
  bool created = false;
  Model rows;                      ///< acknowledged
  std::vector<Change> in_flight;   ///< of the last call that got no answer, or a refusal
  std::set<std::string> settings;  ///< that may be there
};

/// Acknowledged rows, with any number of the changes in flight on top.
inline bool is_possible(const Model& found, const Known& known) {
  Model model = known.rows;
  if (found == model) {
    return true;
  }
  for (const Change& change : known.in_flight) {
    apply_change(model, change);
    if (found == model) {
      return true;
    }
  }
  return false;
}

class Workload {
 public:
  /// With `goes_on` a failing step is no end: the disk fails once, not the machine.
  Workload(CrashFileSystem& files, bool goes_on) : files_(files), goes_on_(goes_on) {}
  ~Workload() { files_.on_write({}); }
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  Known run(const std::vector<Step>& steps) {
    known_.settings = {"0"};
    if (!open()) {
      return known_;
    }
    auto created = database_->create("c", test_schema(), "0");
    if (!created) {
      return known_;
    }
    known_.created = true;
    rows_ = *created;
    uint64_t number = 0;
    for (const Step& step : steps) {
      const bool done = apply_step(step, std::to_string(++number));
      if (!done && !goes_on_) {
        break;
      }
      if (rows_ == nullptr) {
        break;
      }
    }
    return known_;
  }
  /// What readers see at the end of the run differs from what was acknowledged, or empty.
  bool shows_what_was_acknowledged() const {
    return rows_ == nullptr || see_rows(*rows_->snapshot()) == known_.rows;
  }

 private:
  bool open() {
    auto opened = Database::open("/data", crash_options(), files_);
    if (!opened && goes_on_) {
      files_.free_space();
      opened = Database::open("/data", crash_options(), files_);
    }
    if (opened) {
      database_ = std::move(*opened);
    }
    return opened.has_value();
  }

  bool write(const std::vector<Change>& changes) {
    // Once a log cannot be trusted no later change is taken, so what may be on the disk is the
    // first that got no answer.
    if (known_.in_flight.empty()) {
      known_.in_flight = changes;
    }
    if (!rows_->write(changes)) {
      return false;
    }
    for (const Change& change : changes) {
      apply_change(known_.rows, change);
    }
    known_.in_flight.clear();
    return true;
  }

  /// Calls `work` with the step's other writes in the middle of its files.
  bool with_writes(const Step& step, const std::function<bool()>& work) {
    uint64_t left = step.at_call;
    if (left > 0) {
      files_.on_write([this, &step, left](const std::string& path) mutable {
        const bool is_file = path.find("/segment-") != std::string::npos ||
                             path.find("/index-") != std::string::npos;
        if (is_file && left > 0 && --left == 0) {
          write(step.meanwhile);
        }
      });
    }
    const bool done = work();
    files_.on_write({});
    return done;
  }

  bool switch_model(const Step& step, const std::string& settings) {
    Schema next = rows_->schema();
    next.model = settings;
    known_.settings.insert(settings);
    bool first = step.at_call > 0 && rows_->statistics().sealed_segments > 0;
    const auto maker = [&](std::span<const RowView> rows) {
      if (std::exchange(first, false)) {
        write(step.meanwhile);
      }
      return make_test_vectors(rows);
    };
    if (!rows_->replace_vectors(next, settings, maker, {}, {})) {
      return false;
    }
    known_.settings = {settings};
    return true;
  }

  bool reopen() {
    rows_.reset();
    database_.reset();
    if (!open()) {
      return false;
    }
    rows_ = *database_->find("c");
    const Model found = see_rows(*rows_->snapshot());
    if (is_possible(found, known_)) {
      known_.rows = found;
      known_.in_flight.clear();
    }
    return true;
  }

  bool apply_step(const Step& step, const std::string& settings) {
    switch (step.kind) {
      case Step::Kind::Write:
        return write(step.changes);
      case Step::Kind::Seal:
        return with_writes(step, [&] { return rows_->seal().has_value(); });
      case Step::Kind::Compact:
        return with_writes(step, [&] { return rows_->compact({}, {}).has_value(); });
      case Step::Kind::Background:
        return with_writes(step, [&] {
          database_->settle();
          return true;
        });
      case Step::Kind::Settings:
        known_.settings.insert(settings);
        if (!rows_->set_settings(settings)) {
          return false;
        }
        known_.settings = {settings};
        return true;
      case Step::Kind::SwitchModel:
        return switch_model(step, settings);
      case Step::Kind::Reopen:
        return reopen();
    }
    return false;
  }

  CrashFileSystem& files_;
  const bool goes_on_;
  Known known_;
  std::unique_ptr<Database> database_;
  std::shared_ptr<Collection> rows_;
};

/// Opens what is left; checks rows, settings and every file; writes on, and looks again after
/// another power cut.
inline void check_state(CrashFileSystem& files, const Known& known, uint64_t seed) {
  auto database = Database::open("/data", crash_options(), files);
  ASSERT_TRUE(database) << database.error().message;
  auto rows = (*database)->find("c");
  if (!rows) {
    ASSERT_FALSE(known.created);
    return;
  }
  const Model found = see_rows(*(*rows)->snapshot());
  ASSERT_TRUE(is_possible(found, known));
  ASSERT_TRUE(known.settings.contains((*rows)->settings()));
  const auto verified = (*rows)->verify();
  ASSERT_TRUE(verified) << verified.error().message;
  Model expected = found;
  for (const std::string id : {"d1", "after"}) {
    const Row row = test_row(id, 1'000'000 + seed);
    ASSERT_TRUE((*rows)->write({put(row)}));
    expected[id] = row.source;
  }
  if (seed % 2 == 0) {
    (*database)->settle();
    ASSERT_EQ(see_rows(*(*rows)->snapshot()), expected);
  }
  rows->reset();
  database->reset();
  files.crash(CrashKind::Lost, seed);
  auto again = Database::open("/data", crash_options(), files);
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(see_rows(*(*(*again)->find("c"))->snapshot()), expected);
}

}  // namespace sibyl::store
