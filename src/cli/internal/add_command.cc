#include <utility>

#include "answer/document_reader.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_access.h"
#include "base/stop.h"
#include "cli/internal/commands.h"
#include "cli/internal/owner.h"
#include "cli/internal/pruning.h"
#include "cli/internal/spool.h"
#include "net/http_client.h"

namespace sibyl::cli {
namespace {

using base::Json;

constexpr uint64_t kFailuresShown = 20;

struct Tally {
  uint64_t added = 0;
  uint64_t updated = 0;
  uint64_t unchanged = 0;
  uint64_t waiting = 0;
  uint64_t removed = 0;
  uint64_t failed = 0;
  Json failures = Json::array();
};

class Adding {
 public:
  Adding(const Arguments& arguments, const Terminal& terminal)
      : arguments_(arguments),
        terminal_(terminal),
        origins_(arguments.paths),
        stop_(base::process_stop_token()) {}

  Result<int> run() {
    const int64_t start_us = base::system_clock().steady_us();
    auto spool = read_all();
    if (!spool) {
      return pass_on(spool);
    }
    if (tally_.failed > arguments_.bad_max) {
      return fail(Code::InvalidData,
                  "{} of {} are wrong; nothing was added (--max-bad {} allows as many)",
                  tally_.failed, tally_.failed + (*spool)->documents(), tally_.failed);
    }
    auto owner = Owner::open(arguments_.data, false);
    if (!owner) {
      return pass_on(owner);
    }
    // Found before anything is added, so that a prune that is refused changes nothing.
    auto pruned =
        arguments_.prune ? find_gone(**owner, **spool) : Result<std::vector<std::string>>();
    if (!pruned) {
      return pass_on(pruned);
    }
    if (auto ready = make_collection(**owner); !ready) {
      return pass_on(ready);
    }
    if (auto sent = send_all(**owner, **spool); !sent) {
      return pass_on(sent);
    }
    if (auto removed = remove(**owner, *pruned); !removed) {
      return pass_on(removed);
    }
    return report(**owner, static_cast<double>(base::system_clock().steady_us() - start_us) / 1e6);
  }

 private:
  // One reading: what is right waits in the spool until all has been checked.
  Result<std::unique_ptr<DocumentSpool>> read_all() {
    auto spool = DocumentSpool::open();
    if (!spool) {
      return pass_on(spool);
    }
    answer::ReadOptions options;
    options.columns = arguments_.columns;
    options.stop = stop_;
    uint64_t links = 0;
    options.on_link = [&links](const std::string&) { ++links; };
    ProgressBar bar(terminal_, "reading", "documents");
    Result<void> kept;
    auto read = answer::DocumentReader(options).read(
        arguments_.paths,
        [&](answer::Document&& document, const std::string& file) {
          kept = (*spool)->add(document, origins_.of(file));
          bar.update((*spool)->documents(), 0);
          return kept && !stop_.stop_requested();
        },
        [&](const answer::ReadFailure& failure) {
          note_failure(failure.file, failure.line, failure.id, failure.error.message);
          return !stop_.stop_requested();
        });
    bar.finish();
    if (stop_.stop_requested()) {
      return fail(Code::Interrupted, "stopped while reading; nothing was added");
    }
    if (!read || !kept) {
      return tl::unexpected<Error>(read ? kept.error() : read.error());
    }
    note_what_was_left_out(links, (*spool)->documents());
    return spool;
  }

  void note_what_was_left_out(uint64_t links, uint64_t documents) const {
    if (links > 0) {
      terminal_.note(
          fmt::format("note: {} symbolic links inside folders were not followed; name "
                      "what they point to as a PATH to add it",
                      links));
    }
    if (documents == 0 && tally_.failed == 0) {
      terminal_.note(
          fmt::format("note: no document was found under {}; files of these types are read: .html "
                      ".htm .md .txt .pdf .csv .tsv .jsonl, each also with .gz",
                      fmt::join(arguments_.paths, ", ")));
    }
  }

  Result<std::vector<std::string>> find_gone(Owner& owner, const DocumentSpool& spool) const {
    if (spool.documents() == 0) {
      return fail(Code::FailedPrecondition,
                  "--prune with nothing read would remove every document; `sibyl collections drop` "
                  "does that");
    }
    return find_pruned(owner, arguments_.collection, spool.ids(), origins_);
  }

  void note_failure(const std::string& file, uint64_t line, const std::string& id,
                    const std::string& message) {
    ++tally_.failed;
    const std::string place = line > 0 ? fmt::format("{} line {}", file, line) : file;
    if (tally_.failed <= kFailuresShown) {
      terminal_.warn(fmt::format("{}{}{}", place, place.empty() ? "" : ": ", message));
      tally_.failures.push_back({{"file", file}, {"line", line}, {"id", id}, {"error", message}});
    } else if (tally_.failed == kFailuresShown + 1) {
      terminal_.warn("more are wrong; they are counted");
    }
  }

  // A model is of use for a new collection only: another one for an old would encode all anew.
  Result<void> make_collection(Owner& owner) {
    if (arguments_.model.empty()) {
      return {};
    }
    auto now = owner.call("GET", collection_path(arguments_.collection));
    if (!now) {
      if (now.error().code != Code::NotFound) {
        return pass_on(now);
      }
      auto made = owner.call("PUT", collection_path(arguments_.collection),
                             base::dump_json({{"model", arguments_.model}}));
      return made ? Result<void>() : pass_on(made);
    }
    const std::string used = base::text_at(base::value_at(*now, "settings"), "model");
    const std::string wanted = arguments_.model;
    if (used == wanted || used.substr(0, used.find('@')) == wanted) {
      return {};
    }
    return fail_field(Code::FailedPrecondition, "model",
                      "--model is {}, but collection {} uses {}; `sibyl models use {} {}` switches "
                      "it",
                      wanted, arguments_.collection, used.empty() ? "no model" : used,
                      arguments_.collection, wanted);
  }

  Result<void> send_all(Owner& owner, DocumentSpool& spool) {
    ProgressBar bar(terminal_, "adding", "documents");
    uint64_t done = 0;
    const std::string target = collection_path(arguments_.collection) + "/documents";
    return spool.for_each_batch([&](const DocumentSpool::Batch& batch) -> Result<void> {
      if (stop_.stop_requested()) {
        return fail(Code::Interrupted,
                    "stopped: {} of {} documents are in; run it again for the rest", done,
                    spool.documents());
      }
      const std::string origins = net::encode_uri_part(base::dump_json(Json(batch.origins)));
      auto reply = owner.call("POST", target + "?origins=" + origins, batch.body);
      if (!reply) {
        return pass_on(reply);
      }
      base::JsonFields fields(*reply, {}, Code::Unavailable);
      tally_.added += static_cast<uint64_t>(fields.integer("added", 0, 0, INT64_MAX));
      tally_.updated += static_cast<uint64_t>(fields.integer("updated", 0, 0, INT64_MAX));
      tally_.unchanged += static_cast<uint64_t>(fields.integer("unchanged", 0, 0, INT64_MAX));
      tally_.waiting += static_cast<uint64_t>(fields.integer("waiting", 0, 0, INT64_MAX));
      if (const Json* const failed = fields.value("failed"); failed && failed->is_array()) {
        for (const Json& row : *failed) {
          note_failure({}, 0, base::text_at(row, "id"),
                       fmt::format("document '{}': {}", base::text_at(row, "id"),
                                   base::text_at(row, "error")));
        }
      }
      done += batch.rows;
      bar.update(done, spool.documents());
      return {};
    });
  }

  Result<void> remove(Owner& owner, const std::vector<std::string>& ids) {
    const std::string base_target = collection_path(arguments_.collection) + "/documents/";
    for (const std::string& id : ids) {
      auto removed = owner.call("DELETE", base_target + net::encode_uri_part(id));
      if (!removed && removed.error().code != Code::NotFound) {
        return pass_on(removed);
      }
      ++tally_.removed;
    }
    return {};
  }

  Result<int> report(Owner& owner, double seconds) {
    const auto collection = owner.call("GET", collection_path(arguments_.collection));
    const std::string model =
        collection ? base::text_at(base::value_at(*collection, "settings"), "model") : "";
    if (terminal_.json()) {
      terminal_.print_json({{"collection", arguments_.collection},
                            {"model", model},
                            {"added", tally_.added},
                            {"updated", tally_.updated},
                            {"unchanged", tally_.unchanged},
                            {"waiting", tally_.waiting},
                            {"removed", tally_.removed},
                            {"failed", tally_.failed},
                            {"failures", tally_.failures},
                            {"seconds", seconds}});
    } else if (!terminal_.quiet()) {
      std::string text =
          fmt::format("{}: added {}, updated {}, unchanged {}", arguments_.collection, tally_.added,
                      tally_.updated, tally_.unchanged);
      if (arguments_.prune) {
        text += fmt::format(", removed {}", tally_.removed);
      }
      if (tally_.failed > 0) {
        text += fmt::format(", wrong {}", tally_.failed);
      }
      terminal_.print(fmt::format("{} in {:.1f} s", text, seconds));
    }
    if (tally_.waiting > 0) {
      terminal_.note(fmt::format(
          "note: {} of them are found by their words alone until the model can be asked",
          tally_.waiting));
    }
    const std::string awaited = collection ? base::text_at(*collection, "awaits_model") : "";
    if (!awaited.empty()) {
      terminal_.note(fmt::format("note: {} answers by BM25 alone until model '{}' is there",
                                 arguments_.collection, awaited));
    } else if (collection && model.empty()) {
      terminal_.note(
          fmt::format("note: {0} answers by BM25 alone, it has no model; `sibyl models import DIR "
                      "--name NAME`, "
                      "then `sibyl models use {0} NAME`",
                      arguments_.collection));
    }
    // Rows that only the owner refused: the rest is in, but the exit status says that not all is.
    return tally_.failed > arguments_.bad_max ? exit_status(Code::InvalidData) : 0;
  }

  const Arguments& arguments_;
  const Terminal& terminal_;
  const PathOrigins origins_;
  const std::stop_token stop_;
  Tally tally_;
};

}  // namespace

Result<int> add_documents(const Arguments& arguments, const Terminal& terminal) {
  return Adding(arguments, terminal).run();
}

}  // namespace sibyl::cli
