// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/reader.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <thread>

#include "sonde/engine/base/error.h"
#include "sonde/engine/report/json.h"

namespace sonde::serve {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using asio::ip::tcp;

namespace {

/// The token for a secret.
std::string enter(asio::io_context& io, const tcp::resolver::results_type& where, const std::string& host,
                  const std::string& token) {
  tcp::socket socket(io);
  asio::connect(socket, where);
  http::request<http::string_body> request(http::verb::post, "/api/enter", 11);
  request.set(http::field::host, host);
  request.set(http::field::origin, "http://" + host);
  request.body() = fmt::format(R"({{"token": "{}"}})", token);
  request.prepare_payload();
  http::write(socket, request);
  beast::flat_buffer in;
  http::response<http::string_body> answer;
  http::read(socket, in, answer);
  if (answer.result() != http::status::ok)
    throw Error(ErrorKind::io, fmt::format("{}: looking at it failed: {}", host,
                                           text_at(parse_json(answer.body(), "answer"), "message")));
  return text_at(parse_json(answer.body(), "answer"), "secret");
}

}  // namespace

struct Reader::State {
  asio::io_context io;
  websocket::stream<tcp::socket> socket{io};
  std::atomic<std::int64_t> frames{0};
  std::jthread thread;

  /// Until the server or the destructor ends the connection.
  void read() {
    beast::flat_buffer in;
    beast::error_code error;
    while (socket.read(in, error), !error) {
      if (socket.got_binary()) ++frames;
      in.clear();
    }
  }
};

Reader::Reader(const std::string& url) : state_(std::make_unique<State>()) {
  // http://HOST:PORT/?token=TOKEN
  const std::size_t host_at = url.find("//") + 2, path_at = url.find('/', host_at),
                    port_at = url.rfind(':', path_at) + 1;
  const std::string host = url.substr(host_at, path_at - host_at), port = url.substr(port_at, path_at - port_at);
  try {
    tcp::resolver resolver(state_->io);
    const auto where = resolver.resolve(url.substr(host_at, port_at - 1 - host_at), port);
    const std::string secret = enter(state_->io, where, host, url.substr(url.find("token=") + 6));
    asio::connect(state_->socket.next_layer(), where);
    state_->socket.set_option(websocket::stream_base::decorator(
        [&](websocket::request_type& request) { request.set(http::field::origin, "http://" + host); }));
    state_->socket.read_message_max(0);  // as long as they are
    state_->socket.handshake(host, "/ws");
    state_->socket.write(asio::buffer(fmt::format(R"({{"secret": "{}"}})", secret)));
  } catch (const beast::system_error& error) {
    throw Error(ErrorKind::io, fmt::format("{}: looking at it failed: {}", host, error.code().message()));
  }
  state_->thread = std::jthread([state = state_.get()] { state->read(); });
}

Reader::~Reader() { ::shutdown(state_->socket.next_layer().native_handle(), SHUT_RDWR); }

std::int64_t Reader::frames() const { return state_->frames; }

}  // namespace sonde::serve
