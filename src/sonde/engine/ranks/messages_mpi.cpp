// SPDX-License-Identifier: Apache-2.0
// sonde_mpi.so: the only file that sees mpi.h. MPI's own handler of errors ends all ranks, so no answer is looked at.
#define OMPI_SKIP_MPICXX  // the C++ bindings, which MPI has given up
#include <mpi.h>

#include <algorithm>

#include "sonde/engine/base/module.h"
#include "sonde/engine/ranks/messages.h"

namespace sonde::messages {
namespace {

constexpr std::size_t most = std::size_t{1} << 30;  // elements of a call: MPI counts with int

bool running() {
  int started = 0, ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started != 0 && ended == 0;
}

int count_on_this_machine() {
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  int size = 1;
  MPI_Comm_size(machine, &size);
  MPI_Comm_free(&machine);
  return size;
}

/// Ends MPI with the program, unless that ends while others still wait (then it is ended by end_all_ranks).
struct Session {
  Session() {
    int given = 0;
    // Threads compute beside the one that calls, which is what MPI calls funneled, but it may be another one each time.
    if (!running()) MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &given);
    here = count_on_this_machine();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    if (running()) MPI_Finalize();
  }

  int here = 1;  ///< ranks of this machine; they start together, and ask at any time
};

const Session& session() {
  static const Session only;
  return only;
}

template <class T>
void combine_all(T* values, std::size_t count, MPI_Datatype type, MPI_Op by) {
  for (std::size_t done = 0; done < count; done += most)
    MPI_Allreduce(MPI_IN_PLACE, values + done, static_cast<int>(std::min(most, count - done)), type, by,
                  MPI_COMM_WORLD);
}

Place start() {
  (void)session();
  Place place;
  MPI_Comm_rank(MPI_COMM_WORLD, &place.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &place.size);
  return place;
}

int on_this_machine() { return session().here; }

void sum_f32(float* values, std::size_t count) { combine_all(values, count, MPI_FLOAT, MPI_SUM); }
void sum_f64(double* values, std::size_t count) { combine_all(values, count, MPI_DOUBLE, MPI_SUM); }
void sum_i64(std::int64_t* values, std::size_t count) { combine_all(values, count, MPI_INT64_T, MPI_SUM); }
void largest(double* values, std::size_t count) { combine_all(values, count, MPI_DOUBLE, MPI_MAX); }

void broadcast(std::span<std::byte> bytes, int root) {
  for (std::size_t done = 0; done < bytes.size(); done += most)
    MPI_Bcast(bytes.data() + done, static_cast<int>(std::min(most, bytes.size() - done)), MPI_BYTE, root,
              MPI_COMM_WORLD);
}

// Messages of one pair and one tag arrive in the order in which they were sent, so pieces of a large one need no
// number.
void exchange(const std::vector<Message>& queue) {
  std::vector<MPI_Request> requests;
  for (const Message& message : queue)
    for (std::size_t done = 0; done < message.receive.size(); done += most)
      MPI_Irecv(message.receive.data() + done, static_cast<int>(std::min(most, message.receive.size() - done)),
                MPI_BYTE, message.peer, message.tag, MPI_COMM_WORLD, &requests.emplace_back());
  for (const Message& message : queue)
    for (std::size_t done = 0; done < message.send.size(); done += most)
      MPI_Isend(message.send.data() + done, static_cast<int>(std::min(most, message.send.size() - done)), MPI_BYTE,
                message.peer, message.tag, MPI_COMM_WORLD, &requests.emplace_back());
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

std::optional<Waiting> waiting(int tag) {
  int there = 0, bytes = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &there, &status);
  if (there == 0) return std::nullopt;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  return Waiting{status.MPI_SOURCE, static_cast<std::size_t>(bytes)};
}

void send(std::span<const std::byte> bytes, int peer, int tag) {
  MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, peer, tag, MPI_COMM_WORLD);
}

void receive(std::span<std::byte> bytes, int peer, int tag) {
  MPI_Recv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void end_all(int status) {
  if (!running()) return;
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > 1) MPI_Abort(MPI_COMM_WORLD, status);
}

constexpr Functions functions = {
    .start = start,
    .on_this_machine = on_this_machine,
    .sum_f32 = sum_f32,
    .sum_f64 = sum_f64,
    .sum_i64 = sum_i64,
    .largest = largest,
    .broadcast = broadcast,
    .exchange = exchange,
    .barrier = barrier,
    .waiting = waiting,
    .send = send,
    .receive = receive,
    .end_all = end_all,
};

}  // namespace
}  // namespace sonde::messages

SONDE_MODULE(sonde::messages::functions);
