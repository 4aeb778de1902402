// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde {

/// What one rank sends to another and receives from it. Both sides give the same tag; the number of elements one sends
/// is the number the other receives. Either span may be empty.
template <class T>
struct Exchange {
  int peer = 0;
  int tag = 0;  ///< 0 ... 32767
  std::span<const T> send;
  std::span<T> receive;
};

/// The processes that work on one thing together: each is a rank, numbered from 0. With one rank every call is done at
/// once, so a run without MPI is the same code. A cheap handle. All ranks must make the same calls in the same order,
/// from one thread at a time; calls return when their data may be used. T: float, double, complex64, complex128 and
/// int64. When MPI itself fails it ends all ranks, because the others would wait for ever.
class Ranks {
 public:
  /// All processes that `mpirun` (or a batch system) started; one when the program was started by itself. The first
  /// call starts MPI, the end of the program ends it. Throws Error(not_supported) when several were started but the
  /// program was built without MPI: each would do the whole work.
  static Ranks world();
  /// Only this process.
  static Ranks alone() { return Ranks(0, 1); }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  /// How many of them share this machine's memory and disks.
  [[nodiscard]] int on_this_machine() const;

  /// values[i] becomes the sum over the ranks of values[i], the same bits on every rank. How the sum is bracketed is
  /// up to MPI: another number of ranks rounds differently.
  template <class T>
  void all_reduce(std::span<T> values) const;
  /// values[i] becomes the largest of the ranks' values[i].
  void largest(std::span<double> values) const;
  /// Every rank gets the values of `root`.
  template <class T>
  void broadcast(std::span<T> values, int root = 0) const;
  /// On `root` the values of all ranks, in the order of ranks; each may give another number. Empty on the others.
  template <class T>
  [[nodiscard]] std::vector<T> gather(std::span<const T> values, int root = 0) const;
  /// All at the same time, in any order: borders between neighbours. With itself a rank copies, from its first message
  /// of a tag to its first of that tag.
  template <class T>
  void exchange(std::span<const Exchange<T>> exchanges) const;
  /// Waits until every rank is here.
  void barrier() const;

 private:
  Ranks(int rank, int size) : rank_(rank), size_(size) {}
  int rank_, size_;
};

/// Ends the program on every rank with this status, when there are others; returns at once when there are none. For a
/// program that ends with an error while others wait for it.
void end_all_ranks(int status);

/// "Open MPI 4.1.4", or "" when built without MPI.
[[nodiscard]] const char* mpi_library();

}  // namespace sonde
