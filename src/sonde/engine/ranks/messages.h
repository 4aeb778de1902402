// SPDX-License-Identifier: Apache-2.0
// Private to the room: what MPI has to provide. messages_mpi.cpp when it is there, else messages_none.cpp; sizes may be
// those of arrays, beyond MPI's own 31 bits. Called with two ranks or more.
#pragma once

#include <cstddef>
#include <cstdint>
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

}  // namespace sonde::messages
