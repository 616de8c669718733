#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/http.h"

namespace sibyl::server {

enum class Role { All, Answers, Models, Vectors };

/// A model of a model server: what requests call it, and where it lies.
struct ModelToServe {
  std::string name;
  std::string uri;  ///< a directory, file://, http(s):// or s3://
};
/// How models are fetched from other machines.
struct ModelSourceOptions {
  std::string api_key;           ///< of an answer server; never logged
  std::string ca_file;           ///< certificates to trust; empty: the system's
  int attempts = 6;              ///< while nobody answers
  int64_t first_pause_ms = 500;  ///< before the second; doubles
  uint64_t file_bytes_max = uint64_t{64} << 30;
};
/// Role::Models.
struct ModelServerOptions {
  std::vector<ModelToServe> models;
  std::string alias;         ///< another name of the only model; may be empty
  size_t threads = 0;        ///< of a model's encoder; 0: one a usable core
  std::string metrics_path;  ///< another address of /metrics; empty: none
  ModelSourceOptions source;
  std::stop_token stop;  ///< ends fetching and loading
};

struct ApplicationOptions {
  std::string data_directory;
  std::string program;  ///< sibyl's own path, for job steps; empty: base::own_program_path()
  Role role = Role::All;
  std::string api_keys_file;  ///< JSON lines of SHA-256 hashes; empty: no keys
  std::string web_root;       ///< --web-root: the page from a folder instead of the embedded one
  std::vector<std::string> allowed_hosts;  ///< beside loopback names; Host and Origin are checked
  size_t encoders_max = 4;                 ///< models whose weights are kept in memory
  std::vector<std::string> encoders;       ///< NAME=seldon+URL or NAME=v2+URL: served elsewhere
  std::string encoder_api_key;             ///< what those want; never logged
  std::string encoder_ca_file;             ///< certificates to trust there; empty: the system's
  ModelSourceOptions model_source;         ///< of models that are imported by their address
  ModelServerOptions model_server;         ///< Role::Models alone
};

class ModelService;

/// The product behind its HTTP interface, without sockets: store, models, answers, jobs, router.
/// The one owner of a data directory (takes its lock: Unavailable names the owner), or, as
/// Role::Models, a server of models without one. `handle` is thread-safe. Commands call it in
/// process, listeners call it from sockets.
class Application {
 public:
  static Result<std::unique_ptr<Application>> open(const ApplicationOptions& options);
  virtual ~Application() = default;
  virtual Response handle(const Request& request, std::stop_token stop) = 0;
  /// Where `request` is to run, so that long work never keeps questions waiting.
  virtual Lane lane(const Request& request) const;
  /// True when requests over TCP carry a key.
  virtual bool requires_keys() const { return false; }
  /// Without keys listeners bind loopback addresses only, unless all that is served may be public.
  virtual bool loopback_only() const { return !requires_keys(); }
  /// What gRPC serves; nullptr: nothing.
  virtual ModelService* model_service() { return nullptr; }
  /// Written into the lock file when the socket listens, so that commands find it; empty when it no
  /// longer does. Listeners call it.
  virtual Result<void> announce_socket(const std::string& socket_path) = 0;
  /// No new work; running requests end; the job step gets SIGTERM; the store is sealed.
  virtual void drain() = 0;
};

/// An application of one address, which gives the other's metrics at any path: what a port of its
/// own for metrics serves. Holds a reference.
std::unique_ptr<Application> make_metrics_application(Application& application);

/// Where the owner of a data directory listens for commands: `DIR/sibyl.sock`, or, where that is
/// too long for a socket's name, a file under the temporary folder named after the directory.
std::string default_socket_path(const std::string& data_directory);
/// The program's version, as "0.1.0".
std::string_view version();
/// The owner's socket of a data directory, from its lock file; Unavailable when nobody owns it.
Result<std::string> owner_socket(const std::string& data_directory);

}  // namespace sibyl::server
