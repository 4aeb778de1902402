// SPDX-License-Identifier: Apache-2.0
// Private to the room: what MPI has to provide. messages_mpi.cpp when it is there, else messages_none.cpp; sizes may be
// those of arrays, beyond MPI's own 31 bits. Called with two ranks or more.
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

/// Starts MPI when it has not been started.
Place start();
int on_this_machine();
void sum(float* values, std::size_t count);
void sum(double* values, std::size_t count);
void sum(std::int64_t* values, std::size_t count);
void largest(double* values, std::size_t count);
void broadcast(std::span<std::byte> bytes, int root);
void exchange(const std::vector<Message>& queue);
void barrier();

/// A message that has arrived and was not yet received. Those of one peer come in the order in which they were sent.
struct Waiting {
  int peer = 0;
  std::size_t bytes = 0;
};
std::optional<Waiting> waiting(int tag);
/// Below 2 GiB, unlike the others.
void send(std::span<const std::byte> bytes, int peer, int tag);
void receive(std::span<std::byte> bytes, int peer, int tag);

}  // namespace sonde::messages
