#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "answer/document.h"
#include "answer/pipeline.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "encoder/encoder.h"
#include "store/database.h"

namespace sibyl::answer {

/// Encoders by model reference ("name", "name@3", "" for the default), opened once and shared; the
/// owner of the registry provides it. Thread-safe.
class EncoderSource {
 public:
  virtual ~EncoderSource() = default;
  /// NotFound names the models there are; FailedPrecondition when "" and there is no default.
  virtual Result<std::shared_ptr<encoder::Encoder>> find(const std::string& reference) = 0;
  /// Fitted pipelines stored with a model (sibyl.json): name -> expression.
  virtual std::map<std::string, std::string> pipelines(const std::string& reference) = 0;
  /// The name of a model that is served elsewhere, when `reference` is that name (or "" and it is
  /// the default); else empty. Such a model may not be there yet: `find` is Unavailable then.
  virtual std::string served_name(const std::string& /*reference*/) { return {}; }
};

/// What a model that is served elsewhere answers as.
struct ServedModel {
  std::string name;
  std::string version;
  std::string before;  ///< the version that it answered as until now; empty: it did not answer
};

/// Settings of a collection (INTERFACE section 2); kept as JSON in the store's manifest.
struct CollectionSettings {
  std::string model;  ///< reference with version, or empty: BM25 alone
  std::string language = "en";
  std::string pipeline = "blend";  ///< name or expression
  bool chunking = true;
  size_t chunk_tokens = 200;
  size_t chunk_overlap = 40;
};

struct FailedRow {
  uint64_t line = 0;
  std::string id;
  Error error;
};
struct AddReport {
  uint64_t added = 0;
  uint64_t updated = 0;
  uint64_t unchanged = 0;
  uint64_t waiting = 0;  ///< of those added and updated: without vectors until the model answers
  std::vector<FailedRow> failed;
};

struct QueryRequest {
  std::string question;
  size_t top = 5;
  std::string filter;
  std::string pipeline;  ///< name or expression; empty: the collection's
  bool explain = false;
  bool spans = true;
};
struct RetrievalScore {
  bool used = false;
  float score = 0;
  uint32_t rank = 0;  ///< in that retrieval's own list, from 1; 0 when it did not list the document
};
struct Span {
  std::string text;
  uint32_t begin = 0;  ///< byte offsets in the answer's text
  uint32_t end = 0;
  double score = 0;
};
struct Answer {
  std::string id;
  std::string passage_id;  ///< "ID#n", n from 0
  double score = 0;
  std::string title;
  std::vector<std::string> headings;
  std::string text;    ///< the passage
  uint32_t begin = 0;  ///< where it stands in the document's text, bytes
  uint32_t end = 0;
  std::string url;
  std::string metadata;  ///< JSON
  std::optional<Span> span;
  std::array<RetrievalScore, kRetrievals> retrievals;
};
struct QueryReply {
  std::vector<Answer> answers;
  std::string collection;
  std::string model;
  std::string pipeline;
  std::string blend;
  std::string notice;          ///< why it was answered by BM25 alone, or empty
  bool without_model = false;  ///< the collection's model could not be asked
  double took_ms = 0;
};

/// Where documents came from, as their senders said: paths of a sender's machine, "-" for its
/// standard input, "" for documents whose sender did not say. What comes from elsewhere must not be
/// removed because it is missing here.
struct DocumentOrigins {
  std::set<std::string> names;
  bool complete = true;  ///< false: there were more than kOriginsMax
};

struct CollectionInfo {
  std::string name;
  CollectionSettings settings;
  store::CollectionStatistics statistics;
  DocumentOrigins origins;
  std::string switching_to;  ///< model of a running re-encoding, or empty
  double switched_share = 0;
  std::string switch_error;   ///< why the last re-encoding of this process failed, or empty
  std::string awaited_model;  ///< served elsewhere and not there yet; its vectors come when it is
  bool rows_wait = false;     ///< rows were added while the model could not be asked
};

inline constexpr size_t kAddRowsMax = 1'000'000;  ///< rows of one body
inline constexpr size_t kListedDocumentsMax = 1000;
inline constexpr size_t kOriginsMax = 100;       ///< kept for a collection
inline constexpr size_t kOriginBytesMax = 4096;  ///< of one

/// Everything about documents and questions, in the process that owns the data directory.
/// Thread-safe.
class AnswerService {
 public:
  static std::unique_ptr<AnswerService> create(store::Database& database, EncoderSource& encoders);
  virtual ~AnswerService() = default;

  /// `body` is a JSON array or JSONL. Right rows are durable when this returns, wrong ones stand in
  /// `failed`; an error only when the body cannot be split into rows. Creates the collection with
  /// the default model (BM25 alone when there is none). `origins` are noted before the rows are.
  virtual Result<AddReport> add_from(const std::set<std::string>& origins,
                                     const std::string& collection, std::string_view body,
                                     std::stop_token stop) = 0;
  /// `add_from` a place that is not said.
  Result<AddReport> add(const std::string& collection, std::string_view body,
                        std::stop_token stop) {
    return add_from({std::string()}, collection, body, std::move(stop));
  }
  virtual Result<bool> remove(const std::string& collection, const std::string& id) = 0;
  /// The document's JSON as it was given (with the id put in when it had none).
  virtual Result<std::string> document(const std::string& collection, const std::string& id) = 0;
  virtual Result<std::vector<std::string>> documents(const std::string& collection,
                                                     const std::string& after, size_t limit) = 0;
  virtual Result<QueryReply> query(const std::string& collection, const QueryRequest& request,
                                   std::stop_token stop) = 0;

  virtual std::vector<std::string> collections() = 0;
  virtual Result<CollectionInfo> info(const std::string& collection) = 0;
  /// Creates (true) or merges settings given as JSON (false); another model starts a re-encoding in
  /// the background, or ends before returning when `wait` is true.
  virtual Result<bool> put_collection(const std::string& collection, const base::Json& settings,
                                      bool wait) = 0;
  /// A model that is served elsewhere answers as `served` now. In the background, collections that
  /// wait for it get its vectors, and those of another version of it are re-encoded: when they used
  /// the version before, an older one, or one that cannot be had any more. May be called again and
  /// again; what is right is left alone, what failed is tried again after a while.
  virtual void follow(const ServedModel& served) = 0;
  /// The model before the current one.
  virtual Result<void> rollback(const std::string& collection, bool wait) = 0;
  virtual Result<void> drop(const std::string& collection) = 0;
  virtual Result<void> compact(const std::string& collection, std::stop_token stop) = 0;
};

}  // namespace sibyl::answer
