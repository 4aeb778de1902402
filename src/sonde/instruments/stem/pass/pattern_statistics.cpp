// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/pass/pattern_statistics.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "sonde/instruments/stem/pass/frame_kernels.h"

namespace sonde::stem {
namespace {

template <class T>
struct alignas(64) StatisticsOf final : Operation::State {  // on cache lines of their own
  explicit StatisticsOf(std::size_t pixels) : sum(pixels), largest(pixels, least()), nonzero(pixels) {}

  /// What every value is at least; of floats some pixels have only negative ones.
  static constexpr T least() { return std::is_integral_v<T> ? T(0) : -std::numeric_limits<T>::infinity(); }

  std::vector<cpu::sum_of<T>> sum;
  std::vector<T> largest;
  std::vector<std::uint32_t> nonzero;
};

template <class T>
void add_lists(const SparseFrames& lists, StatisticsOf<T>& to) {
  for (std::size_t i = 0; i < lists.pixel.size(); ++i) {
    const std::uint32_t pixel = lists.pixel[i];
    to.sum[pixel] += static_cast<cpu::sum_of<T>>(lists.count[i]);
    to.largest[pixel] = std::max(to.largest[pixel], static_cast<T>(lists.count[i]));
    ++to.nonzero[pixel];
  }
}

template <class T>
void add_tile(const Tile& tile, StatisticsOf<T>& to) {
  if (tile.lists != nullptr) return add_lists(*tile.lists, to);
  const double most = *std::max_element(tile.largest.begin(), tile.largest.end());
  cpu::frame_kernels<T>().add_statistics(static_cast<const T*>(tile.frames), static_cast<int>(tile.count()),
                                         tile.shape->detector.out_pixels(), static_cast<T>(most), to.sum.data(),
                                         to.largest.data(), to.nonzero.data());
}

template <class T>
void add_part(StatisticsOf<T>& to, const StatisticsOf<T>& part) {
  for (std::size_t i = 0; i < to.sum.size(); ++i) {
    to.sum[i] += part.sum[i];
    to.largest[i] = std::max(to.largest[i], part.largest[i]);
    to.nonzero[i] += part.nonzero[i];
  }
}

}  // namespace

Abilities PatternStatistics::abilities(const PassShape& shape) const {
  const auto pixels = static_cast<std::size_t>(shape.detector.out_pixels());
  const std::size_t state_bytes = pixels * (8 + size_bytes(shape.elements) + 4);
  return {.sums_of_floats = !shape.counts(),
          .lists = true,
          .shared_bytes = 3 * 8 * pixels,
          .state_bytes = state_bytes,
          .tile_bytes = state_bytes};
}

void PatternStatistics::start(const PassShape& shape) {
  const Shape pattern{shape.detector.out_rows, shape.detector.out_cols};
  elements_ = shape.elements;
  sum = Array(Device::cpu(), pattern, shape.counts() ? DType::u64 : DType::f64);
  largest = Array(Device::cpu(), pattern, shape.counts() ? DType::u64 : DType::f32);
  nonzero = Array(Device::cpu(), pattern, DType::u64);
}

std::unique_ptr<Operation::State> PatternStatistics::make_state(const PassShape& shape) const {
  const auto pixels = static_cast<std::size_t>(shape.detector.out_pixels());
  return visit_elements(shape.elements, [&](auto element) -> std::unique_ptr<State> {
    return std::make_unique<StatisticsOf<decltype(element)>>(pixels);
  });
}

void PatternStatistics::take(const Tile& tile, State* state) {
  visit_elements(elements_,
                 [&](auto element) { add_tile(tile, static_cast<StatisticsOf<decltype(element)>&>(*state)); });
}

void PatternStatistics::merge(State& total, State& part) const {
  visit_elements(elements_, [&](auto element) {
    using Of = StatisticsOf<decltype(element)>;
    add_part(static_cast<Of&>(total), static_cast<const Of&>(part));
  });
}

void PatternStatistics::finish(State* total) {
  visit_elements(elements_, [&](auto element) {
    using T = decltype(element);
    using Most = std::conditional_t<std::is_integral_v<T>, std::uint64_t, float>;
    const auto& found = static_cast<const StatisticsOf<T>&>(*total);
    std::copy(found.sum.begin(), found.sum.end(), static_cast<cpu::sum_of<T>*>(sum.data()));
    std::transform(found.largest.begin(), found.largest.end(), static_cast<Most*>(largest.data()),
                   [](T value) { return static_cast<Most>(value); });
    std::copy(found.nonzero.begin(), found.nonzero.end(), static_cast<std::uint64_t*>(nonzero.data()));
  });
}

}  // namespace sonde::stem
