#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "server/http.h"
#include "server/internal/guard.h"
#include "server/internal/page_source.h"
#include "server/internal/routes.h"
#include "server/internal/services.h"

namespace sibyl::server {

/// From a request to its handler and back: id, guard, route, errors, log line, metrics.
/// Thread-safe.
class Dispatcher {
 public:
  Dispatcher(Services& services, Guard guard)
      : services_(services),
        guard_(std::move(guard)),
        page_(PageSource::create(services.options.web_root)) {}
  Response handle(const Request& request, std::stop_token stop) const;
  bool requires_keys() const { return guard_.requires_keys(); }
  const Guard& guard() const { return guard_; }

 private:
  Response answer(const Request& request, const std::string& id, std::stop_token stop,
                  std::string_view& label) const;
  Response answer_match(const Request& request, const Match& match, std::stop_token stop) const;
  Result<Response> run(const Request& request, const Match& match, std::stop_token stop) const;

  Services& services_;
  Guard guard_;
  std::unique_ptr<PageSource> page_;
};

}  // namespace sibyl::server
