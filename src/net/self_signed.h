#pragma once

#include <sstream>
#include <string>

#include "base/child_process.h"
#include "base/result.h"

namespace sibyl::net {

/// For tests: a key and a certificate of its own for 127.0.0.1, made by the program openssl.
/// NotFound where that is not here.
inline Result<void> make_self_signed(const std::string& key_file,
                                     const std::string& certificate_file) {
  base::ChildOptions make;
  const std::string fixed =
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
      "-subj /CN=localhost -addext subjectAltName=IP:127.0.0.1";
  std::istringstream words(fixed);
  for (std::string word; words >> word;) {
    make.arguments.push_back(word);
  }
  make.arguments.insert(make.arguments.end(), {"-keyout", key_file, "-out", certificate_file});
  auto made = base::run_child(make);
  if (!made) {
    return pass_on(made);
  }
  return made->exit_status == 0 ? Result<void>() : fail(Code::Internal, "{}", made->errors);
}

}  // namespace sibyl::net
