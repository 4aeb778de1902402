// SPDX-License-Identifier: Apache-2.0
// Without MPI there is one rank, for which none of this is called.
#include "sonde/engine/base/error.h"
#include "sonde/engine/ranks/messages.h"
#include "sonde/engine/ranks/ranks.h"

namespace sonde {
namespace messages {
namespace {
[[noreturn]] void absent() { throw Error(ErrorKind::internal, "a message between ranks in a program without MPI"); }
}  // namespace

Place start() { absent(); }
int on_this_machine() { absent(); }
void sum(float*, std::size_t) { absent(); }
void sum(double*, std::size_t) { absent(); }
void sum(std::int64_t*, std::size_t) { absent(); }
void largest(double*, std::size_t) { absent(); }
void broadcast(std::span<std::byte>, int) { absent(); }
void exchange(const std::vector<Message>&) { absent(); }
void barrier() { absent(); }
std::optional<Waiting> waiting(int) { absent(); }
void send(std::span<const std::byte>, int, int) { absent(); }
void receive(std::span<std::byte>, int, int) { absent(); }

}  // namespace messages

void end_all_ranks(int) {}
const char* mpi_library() { return ""; }

}  // namespace sonde
