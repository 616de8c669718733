#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "answer/answer_service.h"
#include "answer/internal/collection_state.h"

namespace sibyl::answer::internal {

/// Brings a collection to the model that its settings have pending and derives rows anew whose
/// passages are those of other settings. Ends with settings that have nothing pending. Interrupted:
/// the pending model stays noted and a restart goes on; another failure clears it.
Result<void> run_pending_switch(CollectionState& state, EncoderSource& encoders,
                                const std::stop_token& stop);

}  // namespace sibyl::answer::internal
