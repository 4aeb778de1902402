// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/websocket_connection.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <optional>
#include <utility>

#include "sonde/app/serve/command.h"
#include "sonde/app/serve/routes.h"
#include "sonde/engine/report/json.h"

namespace sonde::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using beast::error_code;

constexpr const char* subprotocol = "sonde.view.v1";
constexpr std::size_t longest_secret_bytes = 1024;  // of the message that holds it

/// Everything here runs in the strand of the socket, but wake(), stop() and abort().
class WebsocketConnection final : public Connection, public std::enable_shared_from_this<WebsocketConnection> {
 public:
  WebsocketConnection(Service& service, Descriptor descriptor)
      : service_(service),
        socket_(
            tcp::socket(asio::make_strand(service.network), descriptor.v6 ? tcp::v6() : tcp::v4(), descriptor.number)),
        deadline_(socket_.get_executor()) {}
  ~WebsocketConnection() override {
    service_.connections.remove(this);
    service_.clients.release(number_);
  }

  /// Before anybody else knows of this connection.
  void prepare(const std::string& request) {
    error_code error;
    http::request_parser<http::empty_body> parser;
    parser.put(asio::buffer(request), error);
    request_ = parser.release();
  }
  void start() {
    asio::dispatch(socket_.get_executor(), [self = shared_from_this()] { self->accept(); });
  }

  void stop() override {
    asio::post(socket_.get_executor(), [self = shared_from_this()] {
      if (self->ended_ || self->client_ == nullptr) return self->end();
      self->stopping_ = true;
      self->client_->outlet().event("closing", Value::object());
      self->end_after(self->service_.limits.last_word);
      self->flush();
    });
  }
  void abort() override {
    asio::post(socket_.get_executor(), [self = shared_from_this()] { self->end(); });
  }

 private:
  void accept() {
    if (ended_) return;
    beast::get_lowest_layer(socket_).expires_never();  // the WebSocket has clocks of its own
    socket_.set_option(websocket::stream_base::timeout{service_.limits.handshake, service_.limits.silence, true});
    socket_.set_option(websocket::stream_base::decorator([this](websocket::response_type& response) {
      for (const auto& [name, value] : common_headers(service_.access)) response.set(name, value);
      if (http::token_list(request_[http::field::sec_websocket_protocol]).exists(subprotocol))
        response.set(http::field::sec_websocket_protocol, subprotocol);
    }));
    socket_.read_message_max(longest_secret_bytes);
    socket_.auto_fragment(false);  // a frame leaves as it lies in memory, uncopied
    socket_.async_accept(request_, [self = shared_from_this()](error_code error) {
      if (error) {
        if (error.category() == make_error_code(websocket::error::bad_http_version).category())
          self->refused(Reason::handshake, "a handshake against the protocol (" + error.message() + ")");
        return self->end();
      }
      self->end_after(self->service_.limits.handshake, "no secret came in time");
      self->read();
    });
  }

  /// The first message. Who has no secret takes none of the places of clients.
  void enter(std::string_view text) {
    Value message;
    try {
      message = parse_json(text, "secret");
    } catch (const Error&) {  // like one without a secret
    }
    if (!service_.access.secret_valid(text_at(message, "secret")))
      return refuse(Reason::secret, "a WebSocket without the secret of this server",
                    {websocket::close_code::policy_error, "no secret of this server"});
    const auto number = service_.clients.reserve();
    if (!number)
      return refuse(Reason::too_many_clients, "too many clients",
                    {websocket::close_code::try_again_later,
                     fmt::format("{} windows show this page already", service_.limits.clients)});
    deadline_.cancel();
    number_ = *number;
    client_ = std::make_shared<Client>(
        number_, service_.page, service_.new_turn(),
        [weak = weak_from_this()] {
          if (const auto self = weak.lock()) self->wake();
        },
        service_.limits.patience);
    service_.clients.add(client_);
    service_.connections.trust(this);
    socket_.read_message_max(longest_command_bytes);
    client_->open();
  }

  void read() {
    socket_.async_read(in_, [self = shared_from_this()](error_code error, std::size_t) {
      error ? self->take_error(error) : self->take_message();
    });
  }

  void take_message() {
    if (ended_ || closing_) return;
    if (socket_.got_binary())
      return refuse(Reason::binary_message, "a binary message", websocket::close_code::unknown_data);
    const std::string_view text(static_cast<const char*>(in_.cdata().data()), in_.cdata().size());
    if (client_ == nullptr) {
      enter(text);
    } else
      try {
        client_->receive(text);
      } catch (const Error& error) {
        return refuse(Reason::bad_json, printable(error.message()), websocket::close_code::bad_payload);
      }
    if (ended_ || closing_) return;
    in_.clear();
    read();
  }

  void take_error(error_code error) {
    if (error == websocket::error::message_too_big)
      refused(Reason::message_too_long, fmt::format("a command of more than {} bytes", longest_command_bytes));
    else if (error == websocket::condition::protocol_violation)
      refused(Reason::broken_protocol, fmt::format("a frame against the protocol ({})", error.message()));
    else if (error == beast::error::timeout)
      refused(Reason::silence, fmt::format("no sign of life for {} s", service_.limits.silence.count() / 1000));
    end();
  }

  void refused(Reason reason, const std::string& what) {
    service_.refusals.note(reason, client_ == nullptr ? fmt::format("ended a connection: {}", what)
                                                      : fmt::format("ended client {}: {}", number_, what));
  }

  void refuse(Reason reason, const std::string& what, const websocket::close_reason& why) {
    refused(reason, what);
    close(why);
  }

  /// The closing handshake; whoever does not take part is cut off.
  void close(const websocket::close_reason& why) {
    if (ended_ || closing_) return;
    closing_ = true;
    if (!stopping_) end_after(service_.limits.farewell);  // else the last word is being waited for already
    socket_.async_close(why, [self = shared_from_this()](error_code) { self->end(); });
  }

  void end_after(std::chrono::milliseconds time, const char* late = nullptr) {
    deadline_.expires_after(time);
    deadline_.async_wait([self = shared_from_this(), late](error_code error) {
      if (error) return;
      if (late != nullptr) self->refused(Reason::handshake, late);
      self->end();
    });
  }

  void end() {
    if (ended_) return;
    ended_ = true;
    deadline_.cancel();
    if (client_ != nullptr) {
      service_.clients.release(number_);
      client_->close();
    }
    beast::get_lowest_layer(socket_).close();
  }

  void wake() {
    if (woken_.exchange(true)) return;
    asio::post(socket_.get_executor(), [self = shared_from_this()] { self->flush(); });
  }

  /// Sends the next message, one at a time: what waits longer may be replaced meanwhile.
  void flush() {
    woken_ = false;
    if (client_ == nullptr || ended_) return;
    if (closing_ || writing_) {
      end_when_overflowed();
      return;
    }
    if (end_when_overflowed()) return;
    sending_ = client_->outlet().outbox.pop();
    if (!sending_) {
      if (stopping_) close(websocket::close_code::going_away);
      return;
    }
    writing_ = true;
    const auto sent = [self = shared_from_this()](error_code error, std::size_t) {
      self->writing_ = false;
      if (error) return self->end();
      if (self->sending_->frame) ++self->client_->outlet().frames;
      self->sending_.reset();
      self->flush();
    };
    if (!sending_->frame) {
      socket_.text(true);
      socket_.async_write(asio::buffer(sending_->text), sent);
    } else {
      const panel::Frame& frame = *sending_->frame;
      header_ = encode_header(frame);
      socket_.binary(true);
      socket_.async_write(std::array{asio::const_buffer(header_.data(), header_.size()),
                                     asio::const_buffer(frame.payload.data(), frame.payload.size())},
                          sent);
    }
  }

  bool end_when_overflowed() {
    const std::string reason = client_->outlet().outbox.overflow();
    if (reason.empty()) return false;
    refused(Reason::slow_reader, "it reads too slowly: " + reason);
    end();
    return true;
  }

  Service& service_;
  std::uint32_t number_ = 0;  // of the client, once it is one
  websocket::stream<beast::tcp_stream> socket_;
  asio::steady_timer deadline_;
  http::request<http::empty_body> request_;
  std::shared_ptr<Client> client_;  // nullptr until the secret has come
  beast::flat_buffer in_;
  std::optional<Outbox::Message> sending_;
  panel::FrameHeader header_{};
  bool writing_ = false, stopping_ = false, closing_ = false, ended_ = false;
  std::atomic<bool> woken_{false};
};

}  // namespace

void serve_websocket(Service& service, Descriptor descriptor, const std::string& request) {
  const auto connection = std::make_shared<WebsocketConnection>(service, descriptor);
  connection->prepare(request);
  if (service.connections.add(connection, false) != Connections::Admission::refused) connection->start();
}

}  // namespace sonde::serve
