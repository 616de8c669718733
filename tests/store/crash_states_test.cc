// Every state that a crash can leave: a script runs on a file system that dies at its n-th call,
// for every n, and forgets, tears or reorders what was not synced. Whatever is left must open, with
// every acknowledged change and nothing that was never asked for.

#include <set>

#include <gtest/gtest.h>

#include "store/internal/crash_file_system.h"
#include "store/internal/store_fixture.h"

namespace sibyl::store {
namespace {

struct Step {
  enum class Kind { Write, Seal, Compact, Settings, SwitchModel, Reopen };
  Kind kind = Kind::Write;
  std::vector<Change> changes;
};

std::vector<Step> make_steps(uint64_t seed) {
  std::vector<Step> steps;
  base::Random random(seed);
  for (auto& batch : test_script(seed, 14, 12)) {
    steps.push_back({Step::Kind::Write, std::move(batch)});
    switch (random.below(8)) {
      case 0:
        steps.push_back({Step::Kind::Seal, {}});
        break;
      case 1:
        steps.push_back({Step::Kind::Compact, {}});
        break;
      case 2:
        steps.push_back({Step::Kind::Settings, {}});
        break;
      case 3:
        steps.push_back({Step::Kind::SwitchModel, {}});
        break;
      case 4:
        steps.push_back({Step::Kind::Reopen, {}});
        break;
      default:
        break;
    }
  }
  return steps;
}

Result<std::vector<std::vector<std::vector<float>>>> make_vectors(std::span<const RowView> rows) {
  return std::vector<std::vector<std::vector<float>>>(rows.size(), {{1, 2, 3, 4}});
}

DatabaseOptions small_tail() {
  DatabaseOptions options;
  options.tail_rows_max = 5;
  return options;
}

using Model = std::map<std::string, std::string>;

/// What the caller knows when the machine dies.
struct Known {
  bool created = false;
  Model rows;                      ///< acknowledged
  std::vector<Change> in_flight;   ///< of the call that got no answer
  std::set<std::string> settings;  ///< that may be there
};

class Workload {
 public:
  explicit Workload(CrashFileSystem& files) : files_(files) {}

  /// Ends at the first failure.
  Known run(const std::vector<Step>& steps) {
    Known known;
    known.settings = {"0"};
    if (!open()) {
      return known;
    }
    auto created = database_->create("c", test_schema(), "0");
    if (!created) {
      return known;
    }
    known.created = true;
    rows_ = *created;
    uint64_t number = 0;
    for (const Step& step : steps) {
      if (!apply_step(step, std::to_string(++number), known)) {
        break;
      }
    }
    return known;
  }

 private:
  bool open() {
    auto opened = Database::open("/data", small_tail(), files_);
    if (opened) {
      database_ = std::move(*opened);
    }
    return opened.has_value();
  }

  bool apply_step(const Step& step, const std::string& settings, Known& known) {
    switch (step.kind) {
      case Step::Kind::Write:
        known.in_flight = step.changes;
        if (!rows_->write(step.changes)) {
          return false;
        }
        for (const Change& change : step.changes) {
          apply_change(known.rows, change);
        }
        known.in_flight.clear();
        return true;
      case Step::Kind::Seal:
        return rows_->seal().has_value();
      case Step::Kind::Compact:
        return rows_->compact({}, {}).has_value();
      case Step::Kind::Settings:
        known.settings.insert(settings);
        if (!rows_->set_settings(settings)) {
          return false;
        }
        known.settings = {settings};
        return true;
      case Step::Kind::SwitchModel: {
        Schema next = rows_->schema();
        next.model = settings;
        known.settings.insert(settings);
        if (!rows_->replace_vectors(next, settings, make_vectors, {}, {})) {
          return false;
        }
        known.settings = {settings};
        return true;
      }
      case Step::Kind::Reopen:
        rows_.reset();
        database_.reset();
        if (!open()) {
          return false;
        }
        rows_ = *database_->find("c");
        return true;
    }
    return false;
  }

  CrashFileSystem& files_;
  std::unique_ptr<Database> database_;
  std::shared_ptr<Collection> rows_;
};

/// Acknowledged rows, with any number of the changes in flight on top.
bool is_possible(const Model& found, const Known& known) {
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

/// Opens what is left, compares, writes on, and looks again after another power cut.
void check_state(CrashFileSystem& files, const Known& known, uint64_t seed) {
  auto database = Database::open("/data", small_tail(), files);
  ASSERT_TRUE(database) << database.error().message;
  auto rows = (*database)->find("c");
  if (!rows) {
    ASSERT_FALSE(known.created);
    return;
  }
  const Model found = see_rows(*(*rows)->snapshot());
  ASSERT_TRUE(is_possible(found, known));
  ASSERT_TRUE(known.settings.contains((*rows)->settings()));
  ASSERT_TRUE((*rows)->verify());
  Model expected = found;
  for (const std::string id : {"d1", "after"}) {
    const Row row = test_row(id, 1'000'000 + seed);
    ASSERT_TRUE((*rows)->write({put(row)}));
    expected[id] = row.source;
  }
  files.crash(CrashKind::Lost, seed);
  auto again = Database::open("/data", small_tail(), files);
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(see_rows(*(*(*again)->find("c"))->snapshot()), expected);
}

class CrashStates : public testing::TestWithParam<std::tuple<CrashKind, uint64_t>> {};

TEST_P(CrashStates, NoAcknowledgedChangeIsLostAndEveryStartSucceeds) {
  const auto [kind, seed] = GetParam();
  const std::vector<Step> steps = make_steps(seed);
  uint64_t calls = 0;
  {
    CrashFileSystem files;
    ASSERT_TRUE(Workload(files).run(steps).in_flight.empty());
    calls = files.calls();
  }
  for (uint64_t call = 1; call <= calls + 1; ++call) {
    SCOPED_TRACE(fmt::format("the machine died at call {} of {}", call, calls));
    CrashFileSystem files;
    files.stop_at(call);
    const Known known = Workload(files).run(steps);
    files.crash(kind, seed * 1000 + call);
    if (call % 3 == 0) {
      // The next start dies too, somewhere in its recovery.
      files.stop_at(files.calls() + 1 + call % 17);
      static_cast<void>(Database::open("/data", small_tail(), files).has_value());
      files.crash(kind, seed * 1000 + call + 1);
    }
    check_state(files, known, call);
    if (HasFatalFailure()) {
      return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(KindsAndSeeds, CrashStates,
                         testing::Combine(testing::Values(CrashKind::Kept, CrashKind::Lost,
                                                          CrashKind::Torn, CrashKind::Zeroed),
                                          testing::Values(1, 2, 3)));

}  // namespace
}  // namespace sibyl::store
