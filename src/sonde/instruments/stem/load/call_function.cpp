// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/call_function.h"

#include <fmt/format.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/load/visit_frames.h"
#include "sonde/instruments/stem/pass/operation.h"

namespace sonde::stem {
namespace {

/// Copies each tile, which the function may write, and calls it.
class FunctionCalls final : public Operation {
 public:
  FunctionCalls(PatternFunction function, DType type, View<double, 2> values)
      : function_(function), type_(type), values_(values) {}

  [[nodiscard]] Abilities abilities(const PassShape& shape) const override {
    Abilities abilities;
    abilities.copy = type_;
    abilities.state_bytes = 16 * pattern_bytes(shape);  // a tile has no more patterns
    abilities.tile_bytes = abilities.state_bytes;
    return abilities;
  }
  void start(const PassShape& shape) override { pattern_bytes_ = pattern_bytes(shape); }
  [[nodiscard]] std::unique_ptr<State> make_state(const PassShape&) const override {
    return std::make_unique<Patterns>();
  }

  void place_copies(std::span<const Index> positions, State* state, std::span<void*> places) override {
    std::vector<std::byte>& copies = static_cast<Patterns&>(*state).copies;
    if (copies.size() < positions.size() * pattern_bytes_) copies.resize(positions.size() * pattern_bytes_);
    for (std::size_t k = 0; k < positions.size(); ++k) places[k] = copies.data() + k * pattern_bytes_;
  }
  void take(const Tile& tile, State* state) override {
    auto& [copies, values] = static_cast<Patterns&>(*state);
    tile.shape->scale_to_means(copies.data(), tile.count());
    const Index each = values_.extent[1];
    values.assign(static_cast<std::size_t>(tile.count() * each), std::numeric_limits<double>::quiet_NaN());
    const DetectorGrid& detector = tile.shape->detector;
    const int answer = function_(copies.data(), tile.positions.data(), tile.count(), detector.out_rows,
                                 detector.out_cols, values.data());
    if (answer != 0)
      throw Error(ErrorKind::bad_input,
                  fmt::format("the function returned {} for {} patterns, the first of scan "
                              "position {}, {}; 0 says that all is well",
                              answer, tile.count(), tile.positions.front() / tile.shape->scan.out_cols,
                              tile.positions.front() % tile.shape->scan.out_cols));
    for (Index k = 0; k < tile.count(); ++k)
      for (Index value = 0; value < each; ++value)
        values_(tile.positions[static_cast<std::size_t>(k)], value) =
            values[static_cast<std::size_t>(k * each + value)];
  }

 private:
  struct Patterns final : State {
    std::vector<std::byte> copies;
    std::vector<double> values;
  };

  [[nodiscard]] std::size_t pattern_bytes(const PassShape& shape) const {
    return static_cast<std::size_t>(shape.detector.out_pixels()) * size_bytes(type_);
  }

  const PatternFunction function_;
  const DType type_;
  const View<double, 2> values_;
  std::size_t pattern_bytes_ = 0;
};

}  // namespace

Array call_function(const Dataset& dataset, PatternFunction function, DType patterns, Index values) {
  if (values < 1)
    throw Error(ErrorKind::bad_input, fmt::format("{} values of each pattern; expected 1 or more", values));
  const DType held = dataset.dtype();
  if (!is_float(patterns) && (is_float(held) || size_bytes(held) > size_bytes(patterns)))
    throw Error(ErrorKind::bad_input,
                fmt::format("the function takes patterns of {}, but the data set has elements of {}", name(patterns),
                            name(held)))
        .hint("a wider integer type or float takes them");
  const Shape shape = dataset.shape();
  Array found(Device::cpu(), {shape[0], shape[1], values}, DType::f64);
  FunctionCalls calls(function, patterns, {static_cast<double*>(found.data()), dataset.positions(), values});
  Operation* const operation = &calls;
  visit_frames(dataset, "calling the function", std::span(&operation, 1));
  return found;
}

}  // namespace sonde::stem
