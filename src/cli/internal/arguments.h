#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sibyl::cli {

/// What the command line said, whatever the command; a command reads its own part.
struct Arguments {
  // Before the command.
  std::string data;  ///< absolute
  std::string config;
  bool json = false;
  bool quiet = false;
  bool verbose = false;

  std::string command;  ///< "add", "models import"

  // Shared by several commands.
  std::string collection;
  std::string model;
  std::string name;
  std::string id;
  std::string pipeline;
  std::vector<std::string> paths;
  bool wait = false;

  // add
  std::map<std::string, std::string> columns;
  uint64_t bad_max = 0;
  bool prune = false;

  // ask
  std::string question;
  std::string filter;
  uint64_t top = 5;
  bool explain = false;

  // documents
  std::string after;
  uint64_t limit = 0;

  // train, evaluate
  std::string target;  ///< job file, or supervised or coldstart, or a collection
  std::string pairs;
  std::string texts;
  std::string base;
  std::string device;
  std::vector<std::string> settings;  ///< key=value
  bool dry_run = false;
  bool print_schema = false;
  std::string questions;
  std::string qrels;
  bool fit_weights = false;

  // encode
  std::string npy;
  bool as_question = false;

  // models, collections
  std::string language;
  std::string chunking;

  // serve
  std::string http = "127.0.0.1:8080";
  std::string grpc = "127.0.0.1:19530";
  std::string role = "all";
  std::string api_keys;
  std::string tls_certificate;
  std::string tls_key;
  std::string web_root;
  std::vector<std::string> models;    ///< NAME=DIR_OR_URI
  std::vector<std::string> encoders;  ///< NAME=kind+URL
  std::vector<std::string> allowed_hosts;

  // step
  std::string workspace;
  std::string server;

  // cluster
  std::string release = "sibyl";
  std::string name_space;  ///< empty: kubectl's own
  std::string context;     ///< of kubectl
  std::string run;
  std::string step;
  bool follow = false;
};

/// Outcome of reading the command line: go on, or end with `exit_status` (help, version, an error
/// that was already said).
struct ParsedArguments {
  Arguments arguments;
  bool go_on = false;
  int exit_status = 0;
};

ParsedArguments parse_arguments(int argc, char** argv);

}  // namespace sibyl::cli
