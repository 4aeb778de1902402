// SPDX-License-Identifier: Apache-2.0
// Private to the room: the operations of one pass with their states.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sonde/engine/base/clock.h"
#include "sonde/instruments/stem/pass/operation.h"

namespace sonde::stem {

/// Adds the time since the last mark to a stage.
class StageClock {
 public:
  void mark(double& stage) {
    const double now = watch_.seconds();
    stage += now - last_;
    last_ = now;
  }

 private:
  Stopwatch watch_;
  double last_ = 0;
};

/// Starts the operations and keeps their states. Different workers and shares may call take at the same time.
class OperationSet {
 public:
  OperationSet(std::span<Operation* const> operations, PassShape shape);

  [[nodiscard]] const PassShape& shape() const { return shape_; }
  [[nodiscard]] std::size_t size() const { return operations_.size(); }
  [[nodiscard]] bool sums_of_floats() const { return sums_of_floats_; }
  /// Of all states that a worker has at a time, what is read and written with every tile.
  [[nodiscard]] std::size_t tile_bytes() const { return tile_bytes_; }

  /// Whether every operation takes lists.
  [[nodiscard]] bool takes_lists() const { return takes_lists_; }

  /// The type in which an operation wants copies.
  [[nodiscard]] std::optional<DType> copy() const { return copy_; }

  /// Of each operation one state per worker, or per share where it sums floats.
  void make_states(std::size_t workers, std::size_t shares);
  /// Where the copies of the next tile go.
  void place_copies(std::span<const Index> positions, std::size_t worker, std::size_t share, std::span<void*> places);
  /// Hands a tile to every operation; `seconds` has one stage for each.
  void take(const Tile& tile, std::size_t worker, std::size_t share, StageClock& clock, std::span<double> seconds);
  void after_batch(std::span<const Index> positions) const;
  /// Merges the states in their order and finishes every operation.
  void finish();

 private:
  struct Member {
    Operation* operation = nullptr;
    bool by_share = false;
    std::vector<std::unique_ptr<Operation::State>> states;

    [[nodiscard]] Operation::State* state(std::size_t worker, std::size_t share) const {
      return states[by_share ? share : worker].get();
    }
  };
  PassShape shape_;
  std::vector<Member> operations_;
  bool sums_of_floats_ = false, takes_lists_ = true;
  std::optional<DType> copy_;
  std::size_t copier_ = 0;  // the operation that wants them
  std::size_t tile_bytes_ = 0;
};

}  // namespace sonde::stem
