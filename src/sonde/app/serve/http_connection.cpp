// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/http_connection.h"

#include <fmt/format.h>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <functional>
#include <optional>
#include <sstream>
#include <utility>

#include "sonde/app/serve/messages.h"
#include "sonde/app/serve/routes.h"
#include "sonde/app/serve/websocket_connection.h"
#include "sonde/engine/report/json.h"

namespace sonde::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using beast::error_code;

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

/// Everything here runs in the strand of the socket.
class HttpConnection final : public Connection, public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(Service& service, Descriptor descriptor)
      : service_(service),
        stream_(
            tcp::socket(asio::make_strand(service.network), descriptor.v6 ? tcp::v6() : tcp::v4(), descriptor.number)),
        buffer_(service.limits.head_bytes + service.limits.body_bytes) {}
  ~HttpConnection() override { service_.connections.remove(this); }

  void start() {
    asio::dispatch(stream_.get_executor(),
                   [self = shared_from_this()] { self->read_head(self->service_.limits.handshake); });
  }
  void stop() override { abort(); }
  void abort() override {
    asio::post(stream_.get_executor(), [self = shared_from_this()] {
      self->ended_ = true;
      self->stream_.close();
    });
  }

 private:
  void read_head(std::chrono::milliseconds limit) {
    if (ended_) return;
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(service_.limits.head_bytes));
    parser_->body_limit(service_.limits.body_bytes);
    stream_.expires_after(limit);
    http::async_read_header(stream_, buffer_, *parser_, [self = shared_from_this()](error_code error, std::size_t) {
      error ? self->refuse(error) : self->take_head();
    });
  }

  void take_head() {
    const auto& head = parser_->get();
    const bool has_body = !parser_->is_done();
    keep_alive_ = head.keep_alive();
    if (head.count(http::field::host) > 1)
      return answer_and_close(text_answer(400, "Two Host headers.\n"), Reason::host, "two Host headers");
    Route found = route({.method = view(head.method_string()),
                         .target = view(head.target()),
                         .host = view(head[http::field::host]),
                         .origin = view(head[http::field::origin]),
                         .secret = view(head[secret_header]),
                         .if_none_match = view(head[http::field::if_none_match]),
                         .upgrade = beast::websocket::is_upgrade(head)},
                        service_.access, service_.assets);
    if (found.trusted) service_.connections.trust(this);
    switch (found.next) {
      case Next::answer:
        if (has_body) keep_alive_ = false;  // nobody reads it, so what follows is no request
        return answer(std::move(found.answer));
      case Next::websocket:
        return become_websocket();
      case Next::state:
        return tell_state();
      case Next::enter:
        return read_body([this] { enter(); });
      case Next::export_file:
        return read_body([this] { export_file(); });
    }
  }

  void read_body(std::function<void()> then) {
    stream_.expires_after(service_.limits.handshake);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this(), then = std::move(then)](error_code error, std::size_t) {
                       error ? self->refuse(error) : then();
                     });
  }

  /// {"token": ...} or {"code": ...} for {"secret": ...}.
  void enter() {
    Value body;
    try {
      body = parse_json(parser_->get().body(), "body");
    } catch (const Error&) {  // like a body that holds neither
    }
    const std::string token = text_at(body, "token"), code = text_at(body, "code");
    if (service_.access.token_valid(token) || service_.codes.use(code)) {
      Value entered;
      entered["secret"] = service_.access.make_secret();
      return answer(json_answer(200, entered));
    }
    Answer refused =
        token.empty()
            ? error_answer(
                  {ErrorKind::bad_input, "This address was used before, or is too old: it opens one page, once."})
            : error_answer({ErrorKind::bad_input,
                            "This token is not the one of the running sonde: use the address that it printed last."});
    refused.status = 403;
    refused.reason = Reason::token;
    refused.refusal = token.empty() ? "a wrong code" : "a wrong token";
    answer(std::move(refused));
  }

  void become_websocket() {
    if (buffer_.size() > 0)
      return answer_and_close(text_answer(400, "Data before the answer.\n"), Reason::early_data,
                              "data before the handshake");
    std::ostringstream head;
    head << parser_->get();
    tcp::socket socket = stream_.release_socket();
    error_code error;
    const bool v6 = socket.local_endpoint(error).address().is_v6();
    const int number = error ? -1 : socket.release(error);
    if (error) return;  // it has gone meanwhile
    serve_websocket(service_, {number, v6}, head.str());
  }

  void tell_state() {
    stream_.expires_never();
    service_.new_turn()([self = shared_from_this()] {
      Answer answer;
      try {
        answer = text_answer(200, page_message(self->service_.page, 0), "application/json");
      } catch (...) {
        answer = error_answer(current_error());
      }
      self->answer_later(std::move(answer));
    });
  }

  void export_file() {
    stream_.expires_never();
    try {
      const Value body = parse_json(parser_->get().body(), "body");
      Value request = Value::object();
      std::shared_ptr<Client> client;
      if (!body.is_object()) throw Error(ErrorKind::bad_input, "the body is not an object");
      for (const auto& [key, value] : body.members())
        if (key != "client")
          request[key] = value;
        else if (value.is_whole() && value.as_whole() > 0)
          client = service_.clients.find(static_cast<std::uint32_t>(value.as_whole()));
      if (client == nullptr) throw Error(ErrorKind::bad_input, "\"client\" is not the number of a connected client");
      client->export_file(
          std::move(request),
          [self = shared_from_this()](panel::File file) { self->answer_later(file_answer(std::move(file))); },
          [self = shared_from_this()](const Error& error) { self->answer_later(error_answer(error)); });
    } catch (const Error& error) {
      Answer refused = error_answer({ErrorKind::bad_input, error.message()});
      refused.reason = Reason::bad_export;
      refused.refusal = "POST /api/export: " + printable(error.message());
      answer(std::move(refused));
    }
  }

  void answer_later(Answer answer) {
    asio::post(stream_.get_executor(),
               [self = shared_from_this(), answer = std::move(answer)]() mutable { self->answer(std::move(answer)); });
  }

  void answer(Answer answer) {
    if (ended_) return;
    if (answer.reason != Reason::none) service_.refusals.note(answer.reason, "refused " + answer.refusal);
    answer_ = std::move(answer);
    response_.emplace(static_cast<http::status>(answer_.status), 11);
    for (const auto& [name, value] : common_headers(service_.access)) response_->set(name, value);
    for (const auto& [name, value] : answer_.headers) response_->set(name, value);
    if (answer_.status != 304) response_->set(http::field::content_type, answer_.media_type);
    response_->body() = {reinterpret_cast<const char*>(answer_.body.data()), answer_.body.size()};
    response_->keep_alive(keep_alive_);
    response_->prepare_payload();
    stream_.expires_after(service_.limits.keep_alive +
                          std::chrono::seconds(answer_.body.size() / service_.limits.slowest_bytes_per_s));
    http::async_write(stream_, *response_, [self = shared_from_this()](error_code error, std::size_t) {
      self->response_.reset();
      self->answer_ = {};
      if (error) return;  // the reader has gone
      if (self->keep_alive_)
        self->read_head(self->service_.limits.keep_alive);
      else
        self->hang_up();
    });
  }

  void answer_and_close(Answer with, Reason reason, std::string refusal) {
    keep_alive_ = false;
    with.reason = reason;
    with.refusal = std::move(refusal);
    answer(std::move(with));
  }

  /// What cannot be read is answered where somebody may be listening.
  void refuse(error_code error) {
    if (error == http::error::header_limit)
      return answer_and_close(text_answer(431, "The head of this request is too long.\n"), Reason::head_too_long,
                              "a request with a head that is too long");
    if (error == http::error::body_limit)
      return answer_and_close(text_answer(413, "The body of this request is too long.\n"), Reason::body_too_long,
                              "a request with a body that is too long");
    if (error == beast::error::timeout && parser_->got_some())
      service_.refusals.note(Reason::slow_request, "ended a connection: its request did not arrive in time");
    if (error.category() == make_error_code(http::error::bad_method).category() &&
        error != http::error::end_of_stream && error != http::error::partial_message)
      answer_and_close(text_answer(400, "This is not HTTP.\n"), Reason::no_http,
                       "a request that is not HTTP: " + error.message());
  }

  /// Closing while data waits to be read would throw away the answer that is on its way: it is read first, for a while.
  void hang_up() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(service_.limits.farewell);
    drain();
  }
  void drain() {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(4096), [self = shared_from_this()](error_code error, std::size_t) {
      if (!error) self->drain();
    });
  }

  Service& service_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  Answer answer_;
  std::optional<http::response<http::span_body<const char>>> response_;
  bool keep_alive_ = false, ended_ = false;
};

}  // namespace

void serve_http(Service& service, Descriptor descriptor) {
  const auto connection = std::make_shared<HttpConnection>(service, descriptor);
  switch (service.connections.add(connection, false)) {
    case Connections::Admission::admitted:
      break;
    case Connections::Admission::in_place_of_another:
      service.refusals.note(Reason::crowd, "ended the oldest connection without a secret: too many are open");
      break;
    case Connections::Admission::refused:
      service.refusals.note(Reason::crowd, "refused a connection: too many are open");
      return;
  }
  connection->start();
}

}  // namespace sonde::serve
