// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sonde/engine/array/dtype.h"
#include "sonde/engine/array/view.h"
#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/pass/grid.h"

namespace sonde::stem {

/// What is known of a pass before its first frame.
struct PassShape {
  DetectorGrid detector;
  ScanGrid scan;
  /// Of the frames that operations see: u8, u16, u32 or f32 as they are stored, and of sums of bins u32, u64 or f64.
  DType elements = DType::u16;
  std::vector<float> mean_scale;  ///< (resident pixel) one over its number of good pixels; only where bins are means

  [[nodiscard]] bool counts() const { return !is_float(elements); }
  /// Makes means of the sums in `count` frames of f32; nothing where bins are sums.
  void scale_to_means(void* frames, Index count) const {
    auto* element = static_cast<float*>(frames);
    for (Index k = 0; k < count; ++k)
      for (const float scale : mean_scale) *element++ *= scale;
  }
};

/// Positions of one block, [64 k, 64 (k + 1)), share cache lines of the pixel-major layout: one worker has all of them
/// that come with a batch. A list of positions (ScanGrid::only) is divided into blocks of fewer, so that all cores have
/// work: pixel-major elements are not made of one.
constexpr Index block_positions = 64;

/// Frames as lists of the pixels that are not zero, ascending: those of frame k are the entries [first[k], first[k +
/// 1]).
struct SparseFrames {
  std::span<const std::size_t> first;    ///< (frame + 1)
  std::span<const std::uint32_t> pixel;  ///< (entry) row * cols + col of the resident detector
  std::span<const std::uint32_t> count;  ///< (entry) its value, above 0

  /// Calls body(row, col, value) for every entry of frame k of a detector of so many columns.
  template <class Body>
  void visit(std::size_t k, Index cols, Body&& body) const {
    Index row = 0, row_first = 0;
    for (std::size_t i = first[k]; i < first[k + 1]; ++i) {
      const Index at = pixel[i];
      if (at - row_first >= cols) {
        row = at / cols;
        row_first = row * cols;
      }
      body(row, at - row_first, count[i]);
    }
  }
};

/// Some clean frames one after another in the cache: bad pixels and "no data" are zero, bins are summed. They belong to
/// scan positions of one block.
struct Tile {
  const PassShape* shape = nullptr;
  const void* frames = nullptr;           ///< (count, rows, cols) of shape->elements, dense
  std::span<const Index> positions;       ///< one per frame
  std::span<const std::uint8_t> present;  ///< 0 where no frame exists or all failed: the frame is zero
  std::span<const double> largest;        ///< of each frame, at least 0
  bool ends_block = false;                ///< the worker leaves this block of positions
  const SparseFrames* lists = nullptr;    ///< set where frames come as lists: `frames` is null

  [[nodiscard]] Index count() const { return static_cast<Index>(positions.size()); }
  template <class T>
  [[nodiscard]] View<const T, 3> as() const {
    return {static_cast<const T*>(frames), count(), shape->detector.out_rows, shape->detector.out_cols};
  }
};

/// Calls body(T{}) with the type of a pass's elements.
template <class Body>
decltype(auto) visit_elements(DType elements, Body&& body) {
  switch (elements) {
    case DType::u8:
      return body(std::uint8_t{});
    case DType::u16:
      return body(std::uint16_t{});
    case DType::u32:
      return body(std::uint32_t{});
    case DType::u64:
      return body(std::uint64_t{});
    case DType::f32:
      return body(float{});
    case DType::f64:
      return body(double{});
    default:
      throw Error(ErrorKind::internal, "an operation was given elements that no pass has");
  }
}

/// What an operation needs of a pass.
struct Abilities {
  /// Its sums over positions are rounded: each share of the scan then has a state of its own, whose positions come in
  /// the order of the file, so that neither threads nor batches change a bit.
  bool sums_of_floats = false;
  /// The pass writes each frame in this type, one of u8, u16, u32 and f32, to the places that the operation names: the
  /// loop that looks for the largest value does it at no cost. Values beyond the type's maximum become it. One
  /// operation of a set may ask for it.
  std::optional<DType> copy{};
  bool lists = false;            ///< takes tiles of lists too: a pass over electrons then makes no frames
  std::size_t shared_bytes = 0;  ///< taken at the start: what is written by position, results
  std::size_t state_bytes = 0;   ///< of one state
  std::size_t tile_bytes = 0;    ///< of it read and written with every tile
};

/// One computation on every frame of a pass. The pass starts it, makes states, hands tiles to it from all workers, and
/// merges the states. A pass that starts over starts it again: nothing of the first try is left.
class Operation {
 public:
  /// Sums over positions: one state per worker, or per share of the scan.
  struct State {
    State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    virtual ~State() = default;
  };

  virtual ~Operation() = default;

  [[nodiscard]] virtual Abilities abilities(const PassShape& shape) const = 0;
  /// Allocates what is written by position.
  virtual void start(const PassShape& shape) = 0;
  /// Null when the operation keeps nothing between tiles.
  [[nodiscard]] virtual std::unique_ptr<State> make_state(const PassShape&) const { return nullptr; }
  /// Where the copies of the next tile go, one place per position; null for none. Called before `take` with the same
  /// state.
  virtual void place_copies(std::span<const Index> positions, State* state, std::span<void*> places) {
    static_cast<void>(positions);
    static_cast<void>(state);
    static_cast<void>(places);
  }
  /// Called by any worker, tiles in any order, but no two at a time with one state or one block of positions.
  virtual void take(const Tile& tile, State* state) = 0;
  /// After each batch of the pass, on its thread, while no worker runs: the place to wait for somebody else, and for
  /// what needs several positions. `positions` are those of the batch; without a frame too.
  virtual void after_batch(std::span<const Index> positions) { static_cast<void>(positions); }
  /// total += part, called in the order of states.
  virtual void merge(State& total, State& part) const {
    static_cast<void>(total);
    static_cast<void>(part);
  }
  /// After the last tile, with the merged state.
  virtual void finish(State* total) { static_cast<void>(total); }
};

}  // namespace sonde::stem
