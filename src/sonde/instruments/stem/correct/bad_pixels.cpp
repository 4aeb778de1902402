// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/correct/bad_pixels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/correct/mask_bit.h"

namespace sonde::stem {
namespace {

constexpr std::size_t few = 4;  // with fewer neighbours than this the second ring joins
// A background pixel in a concave corner of a sharp, well-exposed disk has five bright and three dark neighbours: the
// median would call it dead (eight such pixels around a disk of radius 10 with 10^5 counts per pixel).
constexpr std::ptrdiff_t most_dark_neighbours = 2;

/// Calls body(flat index) for the good pixels at Chebyshev distance `ring` of (row, col); corners of ring 2 left out.
template <class Body>
void for_ring(Index rows, Index cols, std::span<const std::uint8_t> good, Index row, Index col, Index ring,
              Body&& body) {
  for (Index r = std::max<Index>(row - ring, 0); r <= std::min(row + ring, rows - 1); ++r) {
    for (Index c = std::max<Index>(col - ring, 0); c <= std::min(col + ring, cols - 1); ++c) {
      const Index down = std::abs(r - row), across = std::abs(c - col);
      if (std::max(down, across) != ring || (ring == 2 && down == 2 && across == 2)) continue;
      const Index pixel = r * cols + c;
      if (good.empty() || good[static_cast<std::size_t>(pixel)] != 0) body(pixel);
    }
  }
}

/// Fixed room for 8 + 12 neighbours: the loop over pixels allocates nothing.
struct Neighbours {
  std::array<Index, 20> pixel{};
  std::size_t count = 0;
};

Neighbours neighbours_of(Index rows, Index cols, std::span<const std::uint8_t> good, Index row, Index col) {
  Neighbours found;
  const auto add = [&](Index pixel) { found.pixel[found.count++] = pixel; };
  for_ring(rows, cols, good, row, col, 1, add);
  if (found.count < few) for_ring(rows, cols, good, row, col, 2, add);
  return found;
}

double median(std::array<double, 20>& values, std::size_t count) {
  const auto first = values.begin(), last = first + static_cast<std::ptrdiff_t>(count);
  const auto middle = first + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(first, middle, last);
  if (count % 2 == 1) return *middle;
  return (*middle + *std::max_element(first, middle)) / 2;
}

void require_size(std::size_t size, Index pixels, const char* what) {
  if (size != 0 && size != static_cast<std::size_t>(pixels))
    throw Error(ErrorKind::bad_input, fmt::format("{} has {} values for a detector of {} pixels", what, size, pixels));
}

class Search {
 public:
  Search(const PixelStatistics& statistics, const BadPixelOptions& options)
      : options_(options), sum_(statistics.sum), rows_(sum_.extent[0]), cols_(sum_.extent[1]), fano_(statistics.fano) {
    good_.assign(statistics.good.begin(), statistics.good.end());
    if (good_.empty()) good_.assign(static_cast<std::size_t>(rows_ * cols_), 1);
  }

  void find_sentinels(std::span<const std::uint64_t> sentinels, Index frames) {
    if (sentinels.empty() || frames <= 0) return;
    const double limit = options_.sentinel_fraction * static_cast<double>(frames);
    judge([&](Index pixel, const Neighbours&, std::uint64_t) -> std::optional<BadPixelReason> {
      if (static_cast<double>(sentinels[static_cast<std::size_t>(pixel)]) > limit) return BadPixelReason::sentinel;
      return std::nullopt;
    });
  }

  void find_noisy() {
    if (fano_.empty()) return;
    judge([&](Index pixel, const Neighbours& near, std::uint64_t) -> std::optional<BadPixelReason> {
      if (near.count == 0 || !(fano_[static_cast<std::size_t>(pixel)] > options_.noisy_fano)) return std::nullopt;
      for (std::size_t i = 0; i < near.count; ++i)
        if (!(fano_[static_cast<std::size_t>(near.pixel[i])] < options_.noisy_fano_neighbours)) return std::nullopt;
      return BadPixelReason::noisy;
    });
  }

  /// One pass of the hot and dead rule; false when it found nothing new.
  bool find_hot_and_dead() {
    return judge([&](Index pixel, const Neighbours& near, std::uint64_t brightest) -> std::optional<BadPixelReason> {
      if (near.count == 0) return std::nullopt;
      const auto own = static_cast<double>(at(pixel)), top = static_cast<double>(brightest);
      if (own > options_.hot_factor * top + options_.hot_sigmas * std::sqrt(top + 1)) return BadPixelReason::hot;
      // No dead pixel without a look at the median: that is at most the brightest, and the limit below a part of it.
      if (own * options_.dead_factor >= top) return std::nullopt;
      std::array<double, 20> values{};
      for (std::size_t i = 0; i < near.count; ++i) values[i] = static_cast<double>(at(near.pixel[i]));
      const double middle = median(values, near.count);
      const double limit = middle / options_.dead_factor - options_.hot_sigmas * std::sqrt(middle);
      if (!(middle > options_.dead_minimum) || !(own < limit)) return std::nullopt;
      const auto dark = std::count_if(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(near.count),
                                      [&](double value) { return value < limit; });
      if (dark <= most_dark_neighbours) return BadPixelReason::dead;
      return std::nullopt;
    });
  }

  std::vector<BadPixel> take() {
    std::sort(found_.begin(), found_.end(),
              [](const BadPixel& a, const BadPixel& b) { return std::pair(a.row, a.col) < std::pair(b.row, b.col); });
    return std::move(found_);
  }

 private:
  [[nodiscard]] std::uint64_t at(Index pixel) const { return sum_(pixel / cols_, pixel % cols_); }

  /// Judges every good pixel by the same state; only then the bad ones leave the good.
  template <class Rule>
  bool judge(Rule&& rule) {
    const std::size_t before = found_.size();
    for (Index row = 0; row < rows_; ++row) {
      for (Index col = 0; col < cols_; ++col) {
        const Index pixel = row * cols_ + col;
        if (good_[static_cast<std::size_t>(pixel)] == 0) continue;
        const Neighbours near = neighbours_of(rows_, cols_, good_, row, col);
        std::uint64_t brightest = 0;
        for (std::size_t i = 0; i < near.count; ++i) brightest = std::max(brightest, at(near.pixel[i]));
        if (const auto reason = rule(pixel, near, brightest))
          found_.push_back({row, col, at(pixel), brightest, *reason});
      }
    }
    for (std::size_t i = before; i < found_.size(); ++i)
      good_[static_cast<std::size_t>(found_[i].row * cols_ + found_[i].col)] = 0;
    return found_.size() > before;
  }

  const BadPixelOptions& options_;
  View<const std::uint64_t, 2> sum_;
  Index rows_, cols_;
  std::span<const double> fano_;
  std::vector<std::uint8_t> good_;
  std::vector<BadPixel> found_;
};

}  // namespace

namespace {
constexpr std::string_view action_names[] = {"auto", "zero", "sampled", "interpolate", "mark", "none"};
}

std::string_view name(BadPixelAction action) { return action_names[static_cast<std::size_t>(action)]; }

BadPixelAction parse_bad_pixel_action(std::string_view text) {
  const auto found = std::find(std::begin(action_names), std::end(action_names), text);
  if (found != std::end(action_names)) return static_cast<BadPixelAction>(found - std::begin(action_names));
  const std::vector<std::string> known(std::begin(action_names), std::end(action_names));
  throw Error(ErrorKind::usage, fmt::format("unknown action for bad pixels \"{}\"{}", text, did_you_mean(text, known)))
      .hint(fmt::format("known: {}", fmt::join(known, ", ")));
}

std::string_view name(BadPixelReason reason) {
  constexpr std::string_view names[] = {"hot", "dead", "sentinel", "noisy"};
  return names[static_cast<std::size_t>(reason)];
}

std::uint32_t mask_bits(BadPixelReason reason) {
  constexpr std::uint32_t bits[] = {mask_bit::over_responding, mask_bit::dead, mask_bit::noisy, mask_bit::noisy};
  return bits[static_cast<std::size_t>(reason)];
}

std::vector<BadPixel> find_bad_pixels(const PixelStatistics& statistics, const BadPixelOptions& options) {
  const Index pixels = statistics.sum.count();
  require_size(statistics.good.size(), pixels, "the mask of good pixels");
  require_size(statistics.sentinels.size(), pixels, "the count of sentinels");
  require_size(statistics.fano.size(), pixels, "the Fano factor");
  Search search(statistics, options);
  search.find_sentinels(statistics.sentinels, statistics.frames);
  search.find_noisy();
  for (int pass = 0; pass < options.passes; ++pass)
    if (!search.find_hot_and_dead()) break;
  return search.take();
}

std::vector<Index> good_neighbours(Index rows, Index cols, std::span<const std::uint8_t> good, Index row, Index col) {
  const Neighbours near = neighbours_of(rows, cols, good, row, col);
  std::vector<Index> pixels(near.pixel.begin(), near.pixel.begin() + static_cast<std::ptrdiff_t>(near.count));
  std::sort(pixels.begin(), pixels.end());
  return pixels;
}

std::uint64_t rounded_median(std::span<std::uint64_t> counts) {
  if (counts.empty()) return 0;
  const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2);
  std::nth_element(counts.begin(), middle, counts.end());
  if (counts.size() % 2 == 1) return *middle;
  const std::uint64_t below = *std::max_element(counts.begin(), middle);
  return below + (*middle - below + 1) / 2;  // half up, without the overflow of a sum
}

std::vector<Interpolation> interpolation_plan(Index rows, Index cols, std::span<const std::uint8_t> good,
                                              std::span<const Index> bad) {
  require_size(good.size(), rows * cols, "the mask of good pixels");
  std::vector<Interpolation> plan;
  plan.reserve(bad.size());
  for (const Index pixel : bad) {
    if (pixel < 0 || pixel >= rows * cols)
      throw Error(ErrorKind::bad_input,
                  fmt::format("bad pixel {} is outside a detector of {} x {} pixels", pixel, rows, cols));
    plan.push_back({pixel, good_neighbours(rows, cols, good, pixel / cols, pixel % cols)});
  }
  return plan;
}

}  // namespace sonde::stem
