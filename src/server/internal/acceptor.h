#pragma once

#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>

#include "base/result.h"

namespace sibyl::server {

/// Listens at "host:port". Unavailable when the port is in use, InvalidConfig when the address is
/// not of this machine or, with `loopback_only`, may be reached from another one.
Result<boost::asio::ip::tcp::acceptor> listen_tcp(boost::asio::io_context& context,
                                                  const std::string& address, bool loopback_only);

/// Listens at a socket file of mode 0600. A file left by a process that died is replaced;
/// Unavailable when somebody listens there, AlreadyExists when it is no socket.
Result<boost::asio::local::stream_protocol::acceptor> listen_unix(boost::asio::io_context& context,
                                                                  const std::string& path);

/// "127.0.0.1:8080", "[::1]:8080": where an acceptor listens, with the port the system chose.
std::string address_of(const boost::asio::ip::tcp::acceptor& acceptor);

/// TLS 1.2 and above from PEM files; InvalidConfig names the file that cannot be used.
Result<std::unique_ptr<boost::asio::ssl::context>> make_tls(const std::string& certificate_file,
                                                            const std::string& key_file);

}  // namespace sibyl::server
