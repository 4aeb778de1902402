// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "sonde/app/serve/access.h"
#include "sonde/app/serve/assets.h"
#include "sonde/app/serve/client.h"
#include "sonde/app/serve/limits.h"
#include "sonde/app/serve/refusals.h"
#include "sonde/engine/panel/page.h"

namespace boost::asio {
class io_context;
}

namespace sonde::serve {

/// A connection, whatever it speaks. Both members are thread-safe and return at once.
class Connection {
 public:
  virtual ~Connection() = default;
  /// Ends it with a farewell where the protocol has one.
  virtual void stop() = 0;
  /// Ends it now.
  virtual void abort() = 0;
};

/// The connections that are open. When there is no room the oldest that has not shown a secret makes way, so that
/// strangers who only connect cannot shut out who belongs here. Thread-safe.
class Connections {
 public:
  explicit Connections(std::size_t capacity) : capacity_(capacity) {}

  enum class Admission { admitted, in_place_of_another, refused };
  [[nodiscard]] Admission add(const std::shared_ptr<Connection>& connection, bool trusted);
  void trust(const Connection* connection);
  /// Every connection's destructor.
  void remove(const Connection* connection);
  /// Takes no more and returns those that are open.
  [[nodiscard]] std::vector<std::shared_ptr<Connection>> close();

 private:
  struct Entry {
    const Connection* key;
    std::weak_ptr<Connection> connection;
    bool trusted;
  };

  const std::size_t capacity_;
  std::mutex mutex_;
  std::vector<Entry> entries_;  // oldest first
  bool closed_ = false;
};

/// The clients that look at the page. Thread-safe.
class Clients {
 public:
  explicit Clients(std::size_t capacity) : capacity_(capacity) {}

  /// A number for one more client, or nothing when there are too many. Each is given back by release().
  [[nodiscard]] std::optional<std::uint32_t> reserve();
  void add(std::shared_ptr<Client> client);
  /// nullptr when there is none of this number.
  [[nodiscard]] std::shared_ptr<Client> find(std::uint32_t number) const;
  void release(std::uint32_t number);
  /// Cancels the commands of all.
  void cancel() const;
  /// {"clients", "commands", "replaced", "frames", "dropped"} of all clients that ever were.
  [[nodiscard]] Value counts() const;

 private:
  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::uint32_t last_ = 0;
  std::map<std::uint32_t, std::shared_ptr<Client>> clients_;
  Value gone_ = Value::object();
};

/// What all connections of a server share. It outlives them.
struct Service {
  Service(panel::Page shown, Access rules, std::span<const Asset> files, boost::asio::io_context& io,
          const Limits& bounds);

  const panel::Page page;
  const Access access;
  Codes codes;
  const std::span<const Asset> assets;
  const Limits limits;
  boost::asio::io_context& network;
  /// Makes a queue of work that is done one after the other where computing may take its time.
  std::function<Client::Turn()> new_turn;
  Refusals refusals;
  Connections connections;
  Clients clients;
};

}  // namespace sonde::serve
