// SPDX-License-Identifier: Apache-2.0
// For the tests of this room: a client of plain sockets, which knows nothing of the library that the server uses and
// can therefore also do what is forbidden. Reads that take a minute fail, so that no test hangs.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "sonde/engine/panel/frame.h"
#include "sonde/engine/report/json.h"

namespace sonde::serve {

class TestConnection {
 public:
  /// A small receive buffer makes a client that does not read felt at once.
  explicit TestConnection(std::uint16_t port, int receive_buffer = 0) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval minute{60, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &minute, sizeof minute);
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &minute, sizeof minute);
    if (receive_buffer > 0) setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0) << "port " << port;
  }
  TestConnection(TestConnection&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), read_(std::move(other.read_)) {}
  TestConnection& operator=(TestConnection&&) = delete;
  ~TestConnection() { close(); }

  void close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }
  /// Ends without a goodbye: the other side gets a reset.
  void reset() {
    const linger none{1, 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    close();
  }

  /// False when the other side has closed.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t put = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (put <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
  }
  /// Fewer only at the end of the connection.
  std::string read(std::size_t bytes) {
    while (read_.size() < bytes && more()) {
    }
    std::string part = read_.substr(0, bytes);
    read_.erase(0, bytes);
    return part;
  }
  std::string read_through(std::string_view end) {
    std::size_t at = 0;
    while ((at = read_.find(end)) == std::string::npos)
      if (!more()) return std::exchange(read_, "");
    return read(at + end.size());
  }
  /// Reads and forgets everything until the other side closes; a read that takes too long is no close.
  bool is_closed_by_server() {
    while (more()) read_.clear();
    return !timed_out_;
  }

 private:
  bool more() {
    std::array<char, 65536> part;
    const ssize_t got = recv(socket_, part.data(), part.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      timed_out_ = true;
      ADD_FAILURE() << "the server sent nothing for a minute";
    }
    if (got <= 0) return false;
    read_.append(part.data(), static_cast<std::size_t>(got));
    return true;
  }

  int socket_;
  std::string read_;
  bool timed_out_ = false;
};

struct TestAnswer {
  int status = 0;  ///< 0: the connection was closed without an answer
  std::string head, body;
  [[nodiscard]] std::string header(const std::string& name) const {
    const std::size_t at = head.find("\r\n" + name + ": ");
    if (at == std::string::npos) return "";
    const std::size_t begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
};

inline TestAnswer read_answer(TestConnection& connection) {
  TestAnswer answer;
  answer.head = connection.read_through("\r\n\r\n");
  if (!answer.head.starts_with("HTTP/1.1 ")) return answer;
  answer.status = std::stoi(answer.head.substr(9, 3));
  const std::string length = answer.header("Content-Length");
  if (!length.empty()) answer.body = connection.read(std::stoul(length));
  return answer;
}

/// A WebSocket by RFC 6455, as far as a test needs it.
class TestWebSocket {
 public:
  enum Opcode : unsigned { continuation = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10 };
  struct Message {
    Opcode opcode = close;
    std::string payload{};
    bool ended = false;  ///< the connection was closed instead
  };

  /// Sends `secret` as the first message; nothing when it is empty.
  TestWebSocket(std::uint16_t port, const std::string& secret, int receive_buffer = 0)
      : connection(port, receive_buffer) {
    const std::string host = "localhost:" + std::to_string(port);
    // Key and answer are the example of RFC 6455, section 1.3.
    connection.send("GET /ws HTTP/1.1\r\nHost: " + host + "\r\nOrigin: http://" + host +
                    "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                    "Sec-WebSocket-Extensions: permessage-deflate\r\n"
                    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    head = connection.read_through("\r\n\r\n");
    if (!secret.empty()) send("{\"secret\": \"" + secret + "\"}");
  }
  [[nodiscard]] bool is_open() const {
    return head.starts_with("HTTP/1.1 101") && head.find("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") != std::string::npos;
  }

  static std::string encode(unsigned first_byte, std::string_view payload, bool masked = true) {
    std::string bytes(1, static_cast<char>(first_byte));
    const unsigned mask_bit = masked ? 0x80 : 0;
    const auto put = [&](std::uint64_t value, int length) {
      for (int shift = 8 * (length - 1); shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
    };
    if (payload.size() < 126) {
      put(mask_bit | payload.size(), 1);
    } else if (payload.size() < 65536) {
      put(mask_bit | 126, 1);
      put(payload.size(), 2);
    } else {
      put(mask_bit | 127, 1);
      put(payload.size(), 8);
    }
    if (!masked) return bytes.append(payload);
    const std::string mask = "\x37\xfa\x21\x3d";
    bytes += mask;
    for (std::size_t i = 0; i < payload.size(); ++i) bytes += static_cast<char>(payload[i] ^ mask[i % 4]);
    return bytes;
  }
  bool send(std::string_view json) { return connection.send(encode(0x80 | text, json)); }

  /// The next message; pings and the end are answered on the way.
  Message receive() {
    for (;;) {
      const std::string start = connection.read(2);
      if (start.size() < 2) return {.ended = true};
      const auto byte = [](const std::string& from, std::size_t i) { return static_cast<unsigned char>(from[i]); };
      EXPECT_EQ(byte(start, 0) & 0xF0, 0x80) << "whole messages without extensions";
      EXPECT_EQ(byte(start, 1) & 0x80, 0) << "a server never masks";
      std::uint64_t length = byte(start, 1) & 0x7F;
      if (length >= 126) {
        const std::string more = connection.read(length == 126 ? 2 : 8);
        length = 0;
        for (std::size_t i = 0; i < more.size(); ++i) length = length << 8 | byte(more, i);
      }
      Message message{static_cast<Opcode>(byte(start, 0) & 0x0F), connection.read(length)};
      if (message.payload.size() < length) return {.ended = true};
      if (message.opcode == close) connection.send(encode(0x80 | close, message.payload));
      if (message.opcode != ping) return message;
      connection.send(encode(0x80 | pong, message.payload));
    }
  }
  /// The next text, passing over frames.
  Value receive_json() {
    for (;;) {
      const Message message = receive();
      if (message.ended || message.opcode == close) {
        ADD_FAILURE() << "the connection ended where a text was expected";
        return {};
      }
      if (message.opcode == text) return parse_json(message.payload, "message");
    }
  }
  /// The answer to a command, passing over everything else.
  Value receive_answer(std::uint32_t id) {
    for (;;) {
      Value value = receive_json();
      if (value.is_null() || number_at(value, "id") == id) return value;
    }
  }
  /// The next frame, passing over texts; its payload is not kept.
  panel::Frame receive_frame() {
    for (;;) {
      const Message message = receive();
      if (message.ended || message.payload.size() < panel::frame_header_bytes) {
        if (message.opcode == text && !message.ended) continue;
        ADD_FAILURE() << "the connection ended where a frame was expected";
        return {};
      }
      if (message.opcode != binary) continue;
      panel::FrameHeader header;
      std::copy_n(reinterpret_cast<const std::byte*>(message.payload.data()), header.size(), header.begin());
      const panel::Frame frame = panel::decode_header(header);
      EXPECT_EQ(message.payload.size(),
                panel::frame_header_bytes + std::size_t{frame.rows} * frame.cols * panel::size_of(frame.type));
      return frame;
    }
  }
  /// The code of the closing frame, or 0 when the connection just ended.
  unsigned receive_close() {
    for (;;) {
      const Message message = receive();
      if (message.ended) return 0;
      if (message.opcode == close && message.payload.size() >= 2)
        return static_cast<unsigned>(static_cast<unsigned char>(message.payload[0]) << 8 |
                                     static_cast<unsigned char>(message.payload[1]));
    }
  }

  TestConnection connection;
  std::string head;
};

}  // namespace sonde::serve
