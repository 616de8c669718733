#include "server/internal/acceptor.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include "server/internal/address.h"

namespace sibyl::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using LocalProtocol = asio::local::stream_protocol;
using ErrorCode = boost::system::error_code;

constexpr size_t kSocketPathBytesMax = 107;  // sockaddr_un's 108 less the closing zero

Result<tcp::endpoint> resolve(asio::io_context& context, const HostPort& address) {
  if (address.host.empty()) {
    return tcp::endpoint(tcp::v4(), address.port);
  }
  if (address.host == "localhost") {
    return tcp::endpoint(asio::ip::address_v4::loopback(), address.port);
  }
  ErrorCode error;
  const auto literal = asio::ip::make_address(address.host, error);
  if (!error) {
    return tcp::endpoint(literal, address.port);
  }
  const auto found = tcp::resolver(context).resolve(address.host, std::to_string(address.port),
                                                    tcp::resolver::passive, error);
  if (error || found.empty()) {
    return fail(Code::InvalidConfig, "the host '{}' of the address to listen at is not known: {}",
                address.host, error.message());
  }
  return found.begin()->endpoint();
}

Error listen_error(const ErrorCode& error, const std::string& where) {
  if (error == asio::error::address_in_use) {
    return {
        Code::Unavailable,
        fmt::format("{} is in use by another process; stop it or choose another address", where),
        {}};
  }
  if (error.value() == EADDRNOTAVAIL) {
    return {Code::InvalidConfig, fmt::format("{} is no address of this machine", where), {}};
  }
  if (error == asio::error::access_denied) {
    return {Code::Unavailable,
            fmt::format("listening at {} is not allowed: {}", where, error.message()),
            {}};
  }
  return {code_from_errno(error.value()),
          fmt::format("cannot listen at {}: {}", where, error.message()),
          {}};
}

template <class Acceptor, class Endpoint>
ErrorCode open_and_bind(Acceptor& acceptor, const Endpoint& endpoint) {
  ErrorCode error;
  acceptor.bind(endpoint, error);
  if (!error) {
    acceptor.listen(asio::socket_base::max_listen_connections, error);
  }
  return error;
}

/// Removes a socket file that nobody listens at.
Result<void> clear_stale_socket(asio::io_context& context, const std::string& path) {
  struct stat status{};
  if (lstat(path.c_str(), &status) != 0) {
    return {};
  }
  if (!S_ISSOCK(status.st_mode)) {
    return fail(Code::AlreadyExists, "'{}' is there and is no socket; nothing is put in its place",
                path);
  }
  LocalProtocol::socket probe(context);
  ErrorCode error;
  probe.connect(LocalProtocol::endpoint(path), error);
  if (!error) {
    return fail(Code::Unavailable, "another process listens at unix:{}", path);
  }
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    return fail(code_from_errno(errno), "the stale socket '{}' cannot be removed: {}", path,
                std::strerror(errno));
  }
  return {};
}

Error tls_error(const std::string& file, const char* what, const ErrorCode& error) {
  return {Code::InvalidConfig,
          fmt::format("the {} file '{}' cannot be used: {}", what, file, error.message()),
          {}};
}

}  // namespace

Result<tcp::acceptor> listen_tcp(asio::io_context& context, const std::string& address,
                                 bool loopback_only) {
  const auto parsed = parse_host_port(address);
  if (!parsed) {
    return pass_on(Result<HostPort>(parsed));
  }
  const auto endpoint = resolve(context, *parsed);
  if (!endpoint) {
    return pass_on(Result<tcp::endpoint>(endpoint));
  }
  if (loopback_only && !endpoint->address().is_loopback()) {
    return fail(Code::InvalidConfig,
                "'{}' can be reached from other machines, which needs keys: give --api-keys FILE, "
                "or listen at a loopback address such as 127.0.0.1:{}",
                address, parsed->port);
  }
  tcp::acceptor acceptor(context);
  ErrorCode error;
  acceptor.open(endpoint->protocol(), error);
  if (!error) {
    acceptor.set_option(asio::socket_base::reuse_address(true), error);
    error = open_and_bind(acceptor, *endpoint);
  }
  if (error) {
    return tl::unexpected<Error>(listen_error(error, address));
  }
  return acceptor;
}

Result<LocalProtocol::acceptor> listen_unix(asio::io_context& context, const std::string& path) {
  if (path.size() > kSocketPathBytesMax) {
    return fail(Code::InvalidConfig, "the socket path '{}' has {} bytes; the system allows {}",
                path, path.size(), kSocketPathBytesMax);
  }
  if (auto cleared = clear_stale_socket(context, path); !cleared) {
    return pass_on(cleared);
  }
  LocalProtocol::acceptor acceptor(context);
  ErrorCode error;
  acceptor.open(LocalProtocol(), error);
  if (!error) {
    // The mode of the socket before it is bound is the mode of the file: nobody gets in between.
    fchmod(acceptor.native_handle(), S_IRUSR | S_IWUSR);
    error = open_and_bind(acceptor, LocalProtocol::endpoint(path));
  }
  if (error) {
    return tl::unexpected<Error>(listen_error(error, "unix:" + path));
  }
  if (chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0) {
    return fail(code_from_errno(errno), "the socket '{}' cannot be made private: {}", path,
                std::strerror(errno));
  }
  return acceptor;
}

std::string address_of(const tcp::acceptor& acceptor) {
  ErrorCode error;
  const auto endpoint = acceptor.local_endpoint(error);
  const std::string host = endpoint.address().to_string();
  return endpoint.address().is_v6() ? fmt::format("[{}]:{}", host, endpoint.port())
                                    : fmt::format("{}:{}", host, endpoint.port());
}

Result<std::unique_ptr<asio::ssl::context>> make_tls(const std::string& certificate_file,
                                                     const std::string& key_file) {
  if (certificate_file.empty() || key_file.empty()) {
    return fail(Code::InvalidConfig, "TLS needs both --tls-cert and --tls-key; one is missing");
  }
  auto tls = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  ErrorCode error;
  tls->set_options(asio::ssl::context::no_sslv2 | asio::ssl::context::no_sslv3 |
                       asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1,
                   error);
  // Without this OpenSSL would ask for the key's password at the terminal.
  tls->set_password_callback([](size_t, asio::ssl::context::password_purpose) { return ""; },
                             error);
  tls->use_certificate_chain_file(certificate_file, error);
  if (error) {
    return tl::unexpected<Error>(tls_error(certificate_file, "certificate", error));
  }
  tls->use_private_key_file(key_file, asio::ssl::context::pem, error);
  if (error) {
    return tl::unexpected<Error>(tls_error(key_file, "key", error));
  }
  return tls;
}

}  // namespace sibyl::server
