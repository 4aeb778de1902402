// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/phase/corner_noise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/sampling.h"
#include "sonde/engine/base/setting.h"
#include "sonde/instruments/stem/load/visit_frames.h"
#include "sonde/instruments/stem/pass/frame_kernels.h"

namespace sonde::stem {
namespace {

/// Of every position the sums of some pixels and of their squares.
class PixelSquares final : public Operation {
 public:
  explicit PixelSquares(std::vector<Index> pixels) : pixels_(std::move(pixels)) {}

  [[nodiscard]] Abilities abilities(const PassShape& shape) const override {
    return {.shared_bytes = (2 * sizeof(double) + 1) * static_cast<std::size_t>(shape.scan.positions())};
  }
  void start(const PassShape& shape) override {
    const auto positions = static_cast<std::size_t>(shape.scan.positions());
    sum.assign(positions, 0);
    square.assign(positions, 0);
    present.assign(positions, 0);
  }
  void take(const Tile& tile, State*) override {
    visit_elements(tile.shape->elements, [&](auto element) { add<decltype(element)>(tile); });
  }

  std::vector<double> sum, square;  // of counts exact below 2^53
  std::vector<std::uint8_t> present;

 private:
  template <class T>
  void add(const Tile& tile) {
    const T* frame = static_cast<const T*>(tile.frames);
    for (std::size_t k = 0; k < tile.positions.size(); ++k, frame += tile.shape->detector.out_pixels()) {
      const auto position = static_cast<std::size_t>(tile.positions[k]);
      present[position] = tile.present[k];
      for (const Index pixel : pixels_) {
        const auto value = static_cast<double>(frame[pixel]);
        sum[position] += value;
        square[position] += value * value;
      }
    }
  }

  std::vector<Index> pixels_;
};

std::vector<Index> corner_pixels(const Dataset& dataset) {
  const Index rows = dataset.shape()[2], cols = dataset.shape()[3];
  const Index side = std::max<Index>(1, std::min(rows, cols) / 16);
  const auto at_end = [side](Index i, Index extent) { return i < side || i >= extent - side; };
  std::vector<Index> pixels;
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col)
      if (at_end(row, rows) && at_end(col, cols) && dataset.good()[static_cast<std::size_t>(row * cols + col)] != 0)
        pixels.push_back(row * cols + col);
  return pixels;
}

}  // namespace

CornerNoise corner_noise(const Dataset& dataset) {
  std::vector<Index> pixels = corner_pixels(dataset);
  CornerNoise noise{.pixels = std::ssize(pixels)};
  if (pixels.empty())
    throw Error(ErrorKind::bad_input, fmt::format("{}: no pixel in the corners of the detector is good, so they give "
                                                  "no threshold",
                                                  dataset.acquisition().path))
        .hint("give " + setting("threshold") + " in counts");
  constexpr Index most_frames = 256;
  const Index samples = std::min(most_frames, dataset.positions());
  std::vector<Index> positions;
  for (Index i = 0; i < samples; ++i) positions.push_back(spread_sample(i, samples, dataset.positions()));
  PixelSquares squares(std::move(pixels));
  Operation* const operation = &squares;
  visit_frames(dataset, "corners of the detector", std::span(&operation, 1), std::move(positions));

  double sum = 0, square = 0;
  for (std::size_t i = 0; i < squares.sum.size(); ++i) {
    noise.frames += squares.present[i];
    sum += squares.sum[i];
    square += squares.square[i];
  }
  const auto values = static_cast<double>(noise.frames * noise.pixels);
  if (values == 0) return noise;
  noise.mean = sum / values;
  noise.sigma = std::sqrt(std::max(0.0, square / values - noise.mean * noise.mean));
  return noise;
}

}  // namespace sonde::stem
