#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"

namespace sibyl::cli {

/// What Seldon Core tells the container of a model in PREDICTIVE_UNIT_*; empty or 0 what it does
/// not.
struct PredictiveUnit {
  uint16_t http_port = 0;
  uint16_t grpc_port = 0;
  uint16_t metrics_port = 0;
  std::string metrics_path;  ///< begins with a slash
  std::string id;            ///< the container's name, which is that of the graph's node
  std::string model_uri;     ///< parameter of that name
  size_t threads = 0;        ///< parameter of that name

  bool given() const { return http_port != 0 || grpc_port != 0; }
};

/// `variable` gives the value of an environment variable, "" when it is not set. InvalidConfig
/// names the variable that is wrong; parameters that mean nothing here are logged.
Result<PredictiveUnit> read_predictive_unit(
    const std::function<std::string(const char*)>& variable);

}  // namespace sibyl::cli
