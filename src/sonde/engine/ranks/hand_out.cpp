// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/ranks/hand_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "sonde/engine/base/as_error.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/ranks/messages.h"

namespace sonde {
namespace {

// The last tags that every MPI has. Nobody exchanges anything meanwhile.
constexpr int to_desk = 32765, from_desk = 32766, stop = 32767;

enum class Kind : unsigned char { ask, found, done, failed };

/// Leaves the work of a rank because another has failed.
struct Stopped {};

using Bytes = std::vector<std::byte>;

/// An error as bytes: numbers as they are, each text with its length before it.
class ErrorWriter {
 public:
  static Bytes write(const Error& error) {
    ErrorWriter writer;
    writer.add(error);
    return std::move(writer.bytes_);
  }

 private:
  void add(const Error& error) {
    add(static_cast<std::uint64_t>(error.kind()));
    add(error.marked_message());
    add(error.marked_hint());
    add(error.activities().size());
    for (const std::string& activity : error.activities()) add(activity);
    add(error.problems().size());
    for (const Error& problem : error.problems()) add(problem);
  }
  void add(const std::string& text) {
    add(text.size());
    add(text.data(), text.size());
  }
  void add(std::uint64_t number) { add(&number, sizeof number); }
  void add(const void* from, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), first, first + size);
  }

  Bytes bytes_;
};

/// Reads what ErrorWriter wrote.
class ErrorReader {
 public:
  explicit ErrorReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  Error error() {
    const auto kind = static_cast<ErrorKind>(number());
    std::string message = text(), hint = text();
    std::vector<std::string> activities(number());
    for (std::string& activity : activities) activity = text();
    std::vector<Error> problems;
    for (std::uint64_t left = number(); left > 0; --left) problems.push_back(error());
    Error read = problems.empty() ? Error(kind, std::move(message)) : Error::several(std::move(message), problems);
    if (!hint.empty()) read.hint(std::move(hint));
    for (std::string& activity : activities) read.add_activity(std::move(activity));
    return read;
  }

 private:
  std::string text() {
    std::string read(number(), '\0');
    take(read.data(), read.size());
    return read;
  }
  std::uint64_t number() {
    std::uint64_t read = 0;
    take(&read, sizeof read);
    return read;
  }
  void take(void* to, std::size_t size) {
    std::memcpy(to, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
  }

  std::span<const std::byte> bytes_;
};

Bytes packed(const Error& error) { return ErrorWriter::write(error); }

Error unpacked(std::span<const std::byte> bytes, int rank) {
  Error error = ErrorReader(bytes).error();
  error.add_activity(fmt::format("working on rank {}", rank));
  return error;
}

/// Longer and longer naps, up to a millisecond, while nothing happens: who waits leaves its core to those who compute.
class Naps {
 public:
  void sleep() {
    std::this_thread::sleep_for(length_);
    length_ = std::min(2 * length_, std::chrono::microseconds(1000));
  }
  void wake() { length_ = shortest; }

 private:
  static constexpr std::chrono::microseconds shortest{20};
  std::chrono::microseconds length_ = shortest;
};

Bytes receive(const messages::Waiting& waiting, int tag) {
  Bytes bytes(waiting.bytes);
  messages::mpi().receive(bytes, waiting.peer, tag);
  return bytes;
}

void send(Kind kind, std::span<const std::byte> what) {
  Bytes bytes{static_cast<std::byte>(kind)};
  bytes.insert(bytes.end(), what.begin(), what.end());
  messages::mpi().send(bytes, 0, to_desk);
}

/// What rank 0 knows: who works, and whether anybody has failed.
class OpenDesk {
 public:
  OpenDesk(const Desk& desk, int ranks) : desk_(desk), ranks_(ranks) {}

  Piece next(int rank) {
    const std::lock_guard lock(mutex_);
    return failure_ ? Piece() : desk_.next(rank);
  }
  void receive(int rank, std::span<const std::byte> found) {
    const std::lock_guard lock(mutex_);
    if (failure_) throw Stopped();
    desk_.receive(rank, found);
  }
  void fail(Error error) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(error);
  }
  [[nodiscard]] bool failed() const {
    const std::lock_guard lock(mutex_);
    return failure_.has_value();
  }

  /// Answers the other ranks until none of them works.
  void serve(const std::stop_token& closed) {
    Naps naps;
    const Cancel* const cancel = CancelScope::current();
    for (int working = ranks_ - 1; working > 0;) {
      if (closed.stop_requested() || interrupt_requested() || (cancel != nullptr && cancel->requested())) return;
      if (failed()) tell_to_stop();
      const std::optional<messages::Waiting> waiting = messages::mpi().waiting(to_desk);
      if (!waiting) {
        naps.sleep();
        continue;
      }
      naps.wake();
      if (answer(waiting->peer, sonde::receive(*waiting, to_desk))) --working;
    }
  }
  /// Lets the others go, who wait for it, with the outcome. Throws what has failed.
  void close() {
    if (failure_) tell_to_stop();
    const std::byte outcome{static_cast<unsigned char>(failure_ ? 1 : 0)};
    tell_all({&outcome, 1}, from_desk);
    if (failure_) throw Error(*failure_);
  }

 private:
  /// Whether this was the last message of that rank.
  bool answer(int rank, const Bytes& message) {
    const auto what = std::span<const std::byte>(message).subspan(1);
    switch (static_cast<Kind>(message.front())) {
      case Kind::ask: {
        Piece piece;
        try {
          piece = next(rank);
        } catch (...) {
          fail(as_error(std::current_exception()));
        }
        messages::mpi().send(std::as_bytes(std::span(piece)), rank, from_desk);
        return false;
      }
      case Kind::found:
        try {
          receive(rank, what);
        } catch (const Stopped&) {  // its rank will be notified
        } catch (...) {
          fail(as_error(std::current_exception()));
        }
        return false;
      case Kind::failed:
        fail(unpacked(what, rank));
        return true;
      case Kind::done:
        break;
    }
    return true;
  }
  void tell_to_stop() {
    if (!std::exchange(told_, true)) tell_all({}, stop);
  }
  void tell_all(std::span<const std::byte> what, int tag) const {
    for (int rank = 1; rank < ranks_; ++rank) messages::mpi().send(what, rank, tag);
  }

  const Desk& desk_;
  int ranks_;
  mutable std::mutex mutex_;
  std::optional<Error> failure_;
  bool told_ = false;
};

using Work = std::function<void(const Piece&, const Deliver&)>;

void work_at_the_desk(const Ranks& ranks, const Desk& desk, const Work& work) {
  OpenDesk open(desk, ranks.size());
  std::jthread server;
  if (ranks.size() > 1)
    server = std::jthread([&, cancel = CancelScope::current()](const std::stop_token& closed) {
      const CancelScope scope(cancel);
      open.serve(closed);
    });
  const Deliver deliver = [&](std::span<const std::byte> found) { open.receive(0, found); };
  try {
    for (Piece piece = open.next(0); !piece.empty(); piece = open.next(0)) work(piece, deliver);
  } catch (const Stopped&) {
  } catch (...) {
    Error error = as_error(std::current_exception());
    if (error.kind() == ErrorKind::interrupted || error.kind() == ErrorKind::terminated) throw;
    open.fail(std::move(error));
  }
  if (server.joinable()) server.join();
  check_interrupt();  // the others are not waited for: who asked this rank to stop is ending them too
  open.close();
}

/// Waits for the desk's answer. `asked_to_stop` is looked at meanwhile.
Bytes answer_of_desk(bool asked_to_stop) {
  Naps naps;
  for (;;) {
    if (const auto waiting = messages::mpi().waiting(from_desk)) return receive(*waiting, from_desk);
    if (asked_to_stop) check_interrupt();
    naps.sleep();
  }
}

bool work_elsewhere(const Work& work) {
  const Deliver deliver = [](std::span<const std::byte> found) {
    send(Kind::found, found);
    if (messages::mpi().waiting(stop)) throw Stopped();
  };
  std::optional<Error> failure;
  try {
    for (;;) {
      send(Kind::ask, {});
      const Bytes answer = answer_of_desk(true);
      if (answer.empty()) break;
      Piece piece(answer.size() / sizeof(std::int64_t));
      std::memcpy(piece.data(), answer.data(), answer.size());
      work(piece, deliver);
    }
  } catch (const Stopped&) {
  } catch (...) {
    failure = as_error(std::current_exception());
  }
  send(failure ? Kind::failed : Kind::done, failure ? packed(*failure) : Bytes());
  if (answer_of_desk(false).front() == std::byte{0}) return true;
  messages::mpi().receive({}, 0, stop);
  return false;
}

}  // namespace

bool hand_out(const Ranks& ranks, const Desk& desk, const Work& work) {
  if (ranks.rank() != 0) return work_elsewhere(work);
  work_at_the_desk(ranks, desk, work);
  return true;
}

bool all_succeed(const Ranks& ranks, const std::function<void()>& body) {
  std::optional<Error> failure;
  try {
    body();
  } catch (...) {
    if (ranks.size() == 1) throw;
    failure = as_error(std::current_exception());
  }
  if (ranks.size() == 1) return true;
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(ranks.size()), 0);
  Bytes bytes;
  if (failure) bytes = packed(*failure);
  sizes[static_cast<std::size_t>(ranks.rank())] = static_cast<std::int64_t>(bytes.size());
  ranks.all_reduce(std::span(sizes));
  const auto first = std::find_if(sizes.begin(), sizes.end(), [](std::int64_t size) { return size > 0; });
  if (first == sizes.end()) return true;
  const int failed = static_cast<int>(first - sizes.begin());
  bytes.resize(static_cast<std::size_t>(*first));
  messages::mpi().broadcast(bytes, failed);
  if (ranks.rank() != 0) return false;
  if (failure) throw Error(*failure);
  throw unpacked(bytes, failed);
}

}  // namespace sonde
