#pragma once

#include <string>
#include <string_view>

#include "answer/answer_service.h"
#include "base/json_fwd.h"
#include "base/result.h"

namespace sibyl::answer::internal {

/// What the store's manifest keeps for us: the settings people see, and where switches stand.
struct StoredSettings {
  CollectionSettings settings;
  std::string previous_model;  ///< what a rollback goes to
  bool has_previous = false;   ///< the one before may have been "no model"
  std::string pending_model;   ///< a re-encoding that was begun; goes on after a restart
  bool is_switching = false;
  std::string awaited_model;  ///< name of a served model that was not there yet
  bool rows_wait = false;     ///< some rows have no vectors: the model could not be asked
  DocumentOrigins origins;
};

/// Adds what is new, at most kOriginsMax of them; whether anything changed.
bool add_origins(DocumentOrigins& origins, const std::set<std::string>& names);

std::string settings_to_json(const StoredSettings& stored);
/// DataLoss when the text is not ours.
Result<StoredSettings> settings_from_json(std::string_view text);

/// The keys of INTERFACE section 2 that people may give; others are refused by name.
struct SettingsChange {
  bool has_model = false;
  bool has_language = false;
  CollectionSettings merged;  ///< the old ones with what was given put over them
};
Result<SettingsChange> merge_settings(const CollectionSettings& old, const base::Json& given);

/// What of the settings decides how a row is derived from its source, for the content hash.
std::string derivation_of(const CollectionSettings& settings);

}  // namespace sibyl::answer::internal
