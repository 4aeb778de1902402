// SPDX-License-Identifier: Apache-2.0
// The point of highest symmetry under rotation by 180 degrees. Rotating about c takes pixel x to 2c - x, so that
// C(s) = sum_x a(x) a(s - x), the self-convolution of the pattern without its mean, peaks at s = 2c.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/instruments/stem/correct/centre_methods.h"

namespace sonde::stem {
namespace {

constexpr Index coarse_size = 64;      // the full search costs size^2 (2 size)^2 = 67 M products, 0.05 s
constexpr std::size_t candidates = 8;  // peaks of the coarse search that are followed to full resolution
constexpr Index window = 2;            // shifts tried to each side when going to the next finer level

struct Shift {
  Index row = 0, col = 0;
  double value = 0;
};

void subtract_mean(Pattern& pattern) {
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < pattern.value.size(); ++i)
    if (pattern.valid[i] != 0) sum += pattern.value[i], count += 1;
  for (std::size_t i = 0; i < pattern.value.size(); ++i)
    pattern.value[i] = pattern.valid[i] != 0 ? pattern.value[i] - sum / count : 0;
}

/// Means over 2 x 2 valid pixels; a last odd row or column is left out.
Pattern halved(const Pattern& fine) {
  Pattern coarse{.rows = fine.rows / 2, .cols = fine.cols / 2, .value = {}, .valid = {}};
  coarse.value.assign(static_cast<std::size_t>(coarse.rows * coarse.cols), 0);
  coarse.valid.assign(coarse.value.size(), 0);
  for (Index row = 0; row < coarse.rows; ++row) {
    for (Index col = 0; col < coarse.cols; ++col) {
      double sum = 0, count = 0;
      for (const std::size_t i : {fine.at(2 * row, 2 * col), fine.at(2 * row, 2 * col + 1),
                                  fine.at(2 * row + 1, 2 * col), fine.at(2 * row + 1, 2 * col + 1)})
        if (fine.valid[i] != 0) sum += fine.value[i], count += 1;
      if (count == 0) continue;
      coarse.value[coarse.at(row, col)] = sum / count;
      coarse.valid[coarse.at(row, col)] = 1;
    }
  }
  return coarse;
}

/// C(s); with `energy` also the sum of a(x)^2 over the pixels whose partner is valid.
double convolved(const Pattern& pattern, Index shift_row, Index shift_col, double* energy = nullptr) {
  const Index first_row = std::max<Index>(0, shift_row - pattern.rows + 1),
              last_row = std::min(pattern.rows - 1, shift_row);
  const Index first_col = std::max<Index>(0, shift_col - pattern.cols + 1),
              last_col = std::min(pattern.cols - 1, shift_col);
  double sum = 0;
  for (Index row = first_row; row <= last_row; ++row) {
    const double* forward = pattern.value.data() + pattern.at(row, 0);
    const double* rotated = pattern.value.data() + pattern.at(shift_row - row, 0);
    for (Index col = first_col; col <= last_col; ++col) sum += forward[col] * rotated[shift_col - col];
    if (energy == nullptr) continue;
    for (Index col = first_col; col <= last_col; ++col)
      if (pattern.valid[pattern.at(shift_row - row, shift_col - col)] != 0) *energy += forward[col] * forward[col];
  }
  return sum;
}

/// The highest local maxima of C over all shifts, highest first.
std::vector<Shift> coarse_peaks(const Pattern& pattern) {
  const Index rows = 2 * pattern.rows - 1, cols = 2 * pattern.cols - 1;
  std::vector<double> value(static_cast<std::size_t>(rows * cols));
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col)
      value[static_cast<std::size_t>(row * cols + col)] = convolved(pattern, row, col);
  std::vector<Shift> peaks;
  for (Index row = 0; row < rows; ++row) {
    for (Index col = 0; col < cols; ++col) {
      const double here = value[static_cast<std::size_t>(row * cols + col)];
      bool highest = true;
      for (Index r = std::max<Index>(row - 1, 0); r <= std::min(row + 1, rows - 1) && highest; ++r)
        for (Index c = std::max<Index>(col - 1, 0); c <= std::min(col + 1, cols - 1) && highest; ++c)
          highest = value[static_cast<std::size_t>(r * cols + c)] <= here;
      if (highest) peaks.push_back({row, col, here});
    }
  }
  std::stable_sort(peaks.begin(), peaks.end(), [](const Shift& a, const Shift& b) { return a.value > b.value; });
  if (peaks.size() > candidates) peaks.resize(candidates);
  return peaks;
}

Shift best_near(const Pattern& pattern, Index row, Index col) {
  Shift best;
  bool any = false;
  for (Index r = std::max<Index>(row - window, 0); r <= std::min(row + window, 2 * pattern.rows - 2); ++r) {
    for (Index c = std::max<Index>(col - window, 0); c <= std::min(col + window, 2 * pattern.cols - 2); ++c) {
      const double value = convolved(pattern, r, c);
      if (!any || value > best.value) best = {r, c, value};
      any = true;
    }
  }
  return best;
}

/// Where the parabola through three equidistant values has its top, within half a step of the middle one.
double parabola_top(double before, double middle, double after) {
  const double bend = before - 2 * middle + after;
  return bend < 0 ? std::clamp(0.5 * (before - after) / bend, -0.5, 0.5) : 0;
}

}  // namespace

Centre centre_by_friedel(const Pattern& pattern) {
  std::vector<Pattern> levels = {pattern};
  while (std::max(levels.back().rows, levels.back().cols) > coarse_size &&
         std::min(levels.back().rows, levels.back().cols) >= 8)
    levels.push_back(halved(levels.back()));
  for (Pattern& level : levels) subtract_mean(level);

  std::vector<Shift> peaks = coarse_peaks(levels.back());
  for (std::size_t level = levels.size() - 1; level-- > 0;)
    for (Shift& peak : peaks)  // coarse pixel c' is centred on fine pixel 2c' + 1/2, hence s = 2s' + 1
      peak = best_near(levels[level], 2 * peak.row + 1, 2 * peak.col + 1);
  const Shift top =
      *std::max_element(peaks.begin(), peaks.end(), [](const Shift& a, const Shift& b) { return a.value < b.value; });

  const Pattern& fine = levels.front();
  double energy = 0;
  const double middle = convolved(fine, top.row, top.col, &energy);
  Centre centre{.method = CentreMethod::friedel};
  centre.row = 0.5 * (static_cast<double>(top.row) + parabola_top(convolved(fine, top.row - 1, top.col), middle,
                                                                  convolved(fine, top.row + 1, top.col)));
  centre.col = 0.5 * (static_cast<double>(top.col) + parabola_top(convolved(fine, top.row, top.col - 1), middle,
                                                                  convolved(fine, top.row, top.col + 1)));
  centre.confidence = energy > 0 ? std::clamp(middle / energy, 0.0, 1.0) : 0;
  centre.notes.emplace_back("this method gives no radius");
  if (centre.confidence < 0.5)
    centre.notes.push_back(
        fmt::format("the pattern is hardly symmetric about this point (correlation {:.2f})", centre.confidence));
  return centre;
}

}  // namespace sonde::stem
