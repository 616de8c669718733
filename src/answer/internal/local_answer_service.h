#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "answer/answer_service.h"
#include "answer/internal/collection_state.h"

namespace sibyl::answer::internal {

using StatePointer = std::shared_ptr<CollectionState>;

/// The service over a database of this process: documents and questions in answer_service.cc,
/// settings and switches in collection_settings.cc, served models in follow_model.cc.
class LocalAnswerService final : public AnswerService {
 public:
  LocalAnswerService(store::Database& database, EncoderSource& encoders)
      : database_(database), encoders_(encoders) {}

  Result<AddReport> add_from(const std::set<std::string>& origins, const std::string& collection,
                             std::string_view body, std::stop_token stop) override;
  Result<bool> remove(const std::string& collection, const std::string& id) override;
  Result<std::string> document(const std::string& collection, const std::string& id) override;
  Result<std::vector<std::string>> documents(const std::string& collection,
                                             const std::string& after, size_t limit) override;
  Result<QueryReply> query(const std::string& collection, const QueryRequest& request,
                           std::stop_token stop) override;
  std::vector<std::string> collections() override { return database_.names(); }
  Result<CollectionInfo> info(const std::string& collection) override;
  Result<bool> put_collection(const std::string& collection, const base::Json& settings,
                              bool wait) override;
  void follow(const ServedModel& served) override;
  Result<void> rollback(const std::string& collection, bool wait) override;
  Result<void> drop(const std::string& collection) override;
  Result<void> compact(const std::string& collection, std::stop_token stop) override;

  /// Goes on with re-encodings that the end of the process before cut off.
  void resume_switches();

 private:
  Result<StatePointer> state(const std::string& collection);
  Result<StatePointer> state_or_new(const std::string& collection);
  /// `model_given`: settings.model is what the caller wants, empty for none; else the default
  /// model.
  Result<StatePointer> create_state(const std::string& collection, CollectionSettings settings,
                                    bool model_given);
  /// The caller holds the settings mutex.
  Result<void> begin_switch(CollectionState& state, StoredSettings stored,
                            const std::string& target);
  Result<void> note_origins(CollectionState& state, std::set<std::string> origins);
  Result<void> follow_with(CollectionState& state, const ServedModel& served);
  /// True when background work was begun, or runs already for the same model.
  Result<bool> change_settings(CollectionState& state, const base::Json& given);

  store::Database& database_;
  EncoderSource& encoders_;
  std::mutex states_mutex_;
  std::map<std::string, StatePointer> states_;
};

}  // namespace sibyl::answer::internal
