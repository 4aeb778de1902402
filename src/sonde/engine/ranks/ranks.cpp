// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/ranks/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "sonde/engine/base/error.h"
#include "sonde/engine/ranks/messages.h"

namespace sonde {
namespace {

/// How many processes the launcher says it has started: Open MPI, MPICH and its kin, Slurm with PMI-2.
int started() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"})
    if (const char* value = std::getenv(name)) return std::max(1, std::atoi(value));
  return 1;
}

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};

/// A message to oneself.
template <class T>
void copy_own(const Exchange<T>& one, int rank) {
  if (one.peer != rank || one.send.size() != one.receive.size())
    throw Error(ErrorKind::internal, fmt::format("rank {} of one exchanges {} elements with rank {} for {}", rank,
                                                 one.send.size(), one.peer, one.receive.size()));
  std::copy(one.send.begin(), one.send.end(), one.receive.begin());
}

void sum(float* values, std::size_t count) { messages::mpi().sum_f32(values, count); }
void sum(double* values, std::size_t count) { messages::mpi().sum_f64(values, count); }
void sum(std::int64_t* values, std::size_t count) { messages::mpi().sum_i64(values, count); }

}  // namespace

Ranks Ranks::world() {
  if (started() == 1) return alone();
  if constexpr (!messages::built)
    throw Error(ErrorKind::not_supported,
                fmt::format("{} processes were started together, but this program was built without MPI", started()))
        .hint("install libopenmpi-dev and configure with -DSONDE_MPI=ON, or start one process");
  const messages::Place place = messages::mpi().start();
  return {place.rank, place.size};
}

int Ranks::on_this_machine() const { return size_ == 1 ? 1 : messages::mpi().on_this_machine(); }

template <class T>
void Ranks::all_reduce(std::span<T> values) const {
  if (size_ == 1) return;
  // The sum of complex numbers is that of their parts.
  using Real = typename RealOf<T>::type;
  sum(reinterpret_cast<Real*>(values.data()), values.size() * (sizeof(T) / sizeof(Real)));
}

template <class T>
void Ranks::broadcast(std::span<T> values, int root) const {
  if (size_ > 1) messages::mpi().broadcast(std::as_writable_bytes(values), root);
}

template <class T>
std::vector<T> Ranks::gather(std::span<const T> values, int root) const {
  if (size_ == 1) return {values.begin(), values.end()};
  // First how many from each, as a sum in which every rank fills its own place.
  std::vector<std::int64_t> counts(static_cast<std::size_t>(size_), 0);
  counts[static_cast<std::size_t>(rank_)] = static_cast<std::int64_t>(values.size());
  all_reduce(std::span(counts));
  std::vector<T> all;
  std::vector<messages::Message> queue;
  if (rank_ != root) {
    queue.push_back({root, 0, std::as_bytes(values), {}});
  } else {
    std::size_t total = 0;
    for (const std::int64_t count : counts) total += static_cast<std::size_t>(count);
    all.resize(total);
    auto to = std::span(all);
    for (int rank = 0; rank < size_; ++rank) {
      const auto part = to.first(static_cast<std::size_t>(counts[static_cast<std::size_t>(rank)]));
      to = to.subspan(part.size());
      if (rank == root)
        std::copy(values.begin(), values.end(), part.begin());
      else
        queue.push_back({rank, 0, {}, std::as_writable_bytes(part)});
    }
  }
  messages::mpi().exchange(queue);
  return all;
}

template <class T>
void Ranks::exchange(std::span<const Exchange<T>> exchanges) const {
  std::vector<messages::Message> queue;
  for (const Exchange<T>& one : exchanges) {
    if (one.peer < 0 || one.peer >= size_ || one.tag < 0 || one.tag > 32767)
      throw Error(ErrorKind::internal, fmt::format("no exchange with rank {} of {}, tag {}", one.peer, size_, one.tag));
    if (one.peer == rank_)
      copy_own(one, rank_);
    else
      queue.push_back({one.peer, one.tag, std::as_bytes(one.send), std::as_writable_bytes(one.receive)});
  }
  if (!queue.empty()) messages::mpi().exchange(queue);
}

void Ranks::largest(std::span<double> values) const {
  if (size_ > 1) messages::mpi().largest(values.data(), values.size());
}

void Ranks::barrier() const {
  if (size_ > 1) messages::mpi().barrier();
}

#define SONDE_RANKS_OF(T)                                               \
  template void Ranks::all_reduce(std::span<T>) const;                  \
  template void Ranks::broadcast(std::span<T>, int) const;              \
  template std::vector<T> Ranks::gather(std::span<const T>, int) const; \
  template void Ranks::exchange(std::span<const Exchange<T>>) const;
SONDE_RANKS_OF(float)
SONDE_RANKS_OF(double)
SONDE_RANKS_OF(std::complex<float>)
SONDE_RANKS_OF(std::complex<double>)
SONDE_RANKS_OF(std::int64_t)
#undef SONDE_RANKS_OF

}  // namespace sonde
