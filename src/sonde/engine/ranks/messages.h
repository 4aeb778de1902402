// SPDX-License-Identifier: Apache-2.0
// Private to the room: what MPI has to provide, by the module of messages_mpi.cpp. Sizes may be those of arrays, beyond
// MPI's own 31 bits. Called with two ranks or more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sonde::messages {

#ifdef SONDE_WITH_MPI
inline constexpr bool built = true;
#else
inline constexpr bool built = false;
#endif

struct Place {
  int rank = 0, size = 1;
};

struct Message {
  int peer, tag;
  std::span<const std::byte> send;
  std::span<std::byte> receive;
};

/// A message that has arrived and was not yet received. Those of one peer come in the order in which they were sent.
struct Waiting {
  int peer = 0;
  std::size_t bytes = 0;
};

/// What MPI does for this room: the exports of sonde_mpi.so, which is opened when there are several ranks.
struct Functions {
  Place (*start)();  ///< starts MPI when it has not been started
  int (*on_this_machine)();
  void (*sum_f32)(float* values, std::size_t count);
  void (*sum_f64)(double* values, std::size_t count);
  void (*sum_i64)(std::int64_t* values, std::size_t count);
  void (*largest)(double* values, std::size_t count);
  void (*broadcast)(std::span<std::byte> bytes, int root);
  void (*exchange)(const std::vector<Message>& queue);
  void (*barrier)();
  std::optional<Waiting> (*waiting)(int tag);
  // Below 2 GiB, unlike the others.
  void (*send)(std::span<const std::byte> bytes, int peer, int tag);
  void (*receive)(std::span<std::byte> bytes, int peer, int tag);
  void (*end_all)(int status);  ///< returns when this rank is the only one, or MPI does not run
};

/// Opens the module at the first call. Throws Error(internal) in a program without MPI, else as open_module().
[[nodiscard]] const Functions& mpi();

}  // namespace sonde::messages
