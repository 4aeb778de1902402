// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "sonde/instruments/ptycho/optics/fourier.h"
#include "sonde/instruments/ptycho/quality/symptoms.h"

namespace sonde::ptycho::symptom {
namespace {

constexpr Index smallest_view = 16;  // pixels along an axis below which a spectrum says nothing

Box seen(const State& state) {
  const Box box = field_of_view(state.positions);
  const Index rows = state.object.shape()[1], cols = state.object.shape()[2];
  const Index row = std::clamp<Index>(box.row, 0, rows - 1), col = std::clamp<Index>(box.col, 0, cols - 1);
  return {row, col, std::clamp<Index>(box.row + box.rows - row, 1, rows - row),
          std::clamp<Index>(box.col + box.cols - col, 1, cols - col)};
}

bool finite(const Image& image) {
  return std::all_of(image.values.begin(), image.values.end(), [](double value) { return std::isfinite(value); });
}

Image spectrum_or_nothing(const Image& phase) {
  return finite(phase) ? power_spectrum(phase)
                       : Image{phase.rows, phase.cols, std::vector<double>(phase.values.size())};
}

double total(const Image& power) { return std::accumulate(power.values.begin(), power.values.end(), 0.0); }

/// No value for views that are too small, hold numbers that are none, or nothing but a constant.
bool has_spectrum(const View& view) {
  return view.phase.rows >= smallest_view && view.phase.cols >= smallest_view && total(view.power) > 0;
}

Index cyclic(Index i, Index n) { return ((i % n) + n) % n; }

/// The two shortest independent steps of a raster, pixels; no value when the positions lie on none.
struct Lattice {
  Point first, second;
};

/// b with b . first = 1, b . second = 0, and the other one: cycles per pixel.
Lattice reciprocal(const Lattice& steps) {
  const double area = steps.first.row * steps.second.col - steps.first.col * steps.second.row;
  return {{steps.second.col / area, -steps.second.row / area}, {-steps.first.col / area, steps.first.row / area}};
}

/// |sum exp(2 pi i b . r)| / J: 1 for positions on a lattice with this reciprocal vector.
double regularity(const std::vector<Point>& positions, const Point& b) {
  complex128 sum = 0;
  for (const Point& at : positions) sum += std::polar(1.0, 2 * std::numbers::pi * (b.row * at.row + b.col * at.col));
  return std::abs(sum) / static_cast<double>(positions.size());
}

std::optional<Lattice> raster(const std::vector<Point>& positions) {
  constexpr double regular = 0.5;
  if (positions.size() < 16) return std::nullopt;
  // Along a line of the scan.
  std::vector<double> rows, cols;
  for (std::size_t j = 1; j < positions.size(); ++j) {
    rows.push_back(positions[j].row - positions[j - 1].row);
    cols.push_back(positions[j].col - positions[j - 1].col);
  }
  Lattice steps{{median(rows), median(cols)}, {}};
  const double length = std::hypot(steps.first.row, steps.first.col);
  if (!(length > 0)) return std::nullopt;
  // Across: the nearest position that lies on no line through the first one, from one in the middle of the scan.
  const Point& from = positions[positions.size() / 2];
  double nearest = 0;
  for (const Point& to : positions) {
    const Point step{to.row - from.row, to.col - from.col};
    const double distance = std::hypot(step.row, step.col);
    const double across = std::abs(step.row * steps.first.col - step.col * steps.first.row) / length;
    if (across < distance / 2 || distance == 0 || (nearest > 0 && distance >= nearest)) continue;
    nearest = distance;
    steps.second = step;
  }
  if (nearest == 0) return std::nullopt;
  const Lattice b = reciprocal(steps);
  if (regularity(positions, b.first) < regular || regularity(positions, b.second) < regular) return std::nullopt;
  return b;
}

/// The power within a pixel of a place in the spectrum, which holds a peak of a view that was multiplied with hann().
double peak_power(const Image& power, const Point& at) {
  const auto row = static_cast<Index>(std::lround(at.row * static_cast<double>(power.rows)));
  const auto col = static_cast<Index>(std::lround(at.col * static_cast<double>(power.cols)));
  double sum = 0;
  for (Index i = -1; i <= 1; ++i)
    for (Index j = -1; j <= 1; ++j) sum += power(cyclic(row + i, power.rows), cyclic(col + j, power.cols));
  return sum;
}

constexpr std::array<std::pair<int, int>, 6> low_orders{{{1, 0}, {0, 1}, {1, 1}, {1, -1}, {2, 0}, {0, 2}}};

bool below_nyquist(const Point& at) { return std::max(std::abs(at.row), std::abs(at.col)) <= 0.5; }

/// The power of what the object itself has at the frequency of b, the reflections of a crystal among it: nine tenths of
/// the other directions, away from all points of the scan's lattice, have less.
double usual_power(const Image& power, const Lattice& lattice, const Point& b) {
  constexpr int directions = 72;  // over half a turn: the spectrum of a real image is that of its inverse
  constexpr double away = 4;      // pixels of the spectrum: a peak and its foot
  const auto near_lattice = [&](const Point& at) {
    return std::any_of(low_orders.begin(), low_orders.end(), [&](const auto& order) {
      const Point point{order.first * lattice.first.row + order.second * lattice.second.row,
                        order.first * lattice.first.col + order.second * lattice.second.col};
      const auto distance = [&](double sign) {
        return std::hypot((at.row - sign * point.row) * static_cast<double>(power.rows),
                          (at.col - sign * point.col) * static_cast<double>(power.cols));
      };
      return std::min(distance(1), distance(-1)) < away;
    });
  };
  const double length = std::hypot(b.row, b.col);
  std::vector<double> others;
  for (int i = 0; i < directions; ++i) {
    const double angle = std::numbers::pi * i / directions;
    const Point at{length * std::sin(angle), length * std::cos(angle)};
    if (below_nyquist(at) && !near_lattice(at)) others.push_back(peak_power(power, at));
  }
  if (others.empty()) return 0;
  const auto high = others.begin() + static_cast<std::ptrdiff_t>(9 * others.size() / 10);
  std::nth_element(others.begin(), high, others.end());
  return *high;
}

double power_above(const Image& phase, double part_of_nyquist) {
  const Image power = power_spectrum(phase);
  double sum = 0;
  for (Index row = 0; row < power.rows; ++row)
    for (Index col = 0; col < power.cols; ++col)
      if (std::hypot(frequency(row, power.rows), frequency(col, power.cols)) > part_of_nyquist / 2)
        sum += power(row, col);
  return sum;
}

}  // namespace

View::View(const Evidence& all)
    : evidence(&all),
      box(seen(*all.state)),
      phase(phase_image(*all.state, box)),
      power(spectrum_or_nothing(phase)),
      rings(box.rows, box.cols, all.sampling.pixel_row(), all.sampling.pixel_col()),
      medians(ring_medians(power, rings)) {}

Symptom ringing(const View& view) {
  if (!has_spectrum(view) || !view.evidence->sampling.calibrated() || !(view.evidence->semiangle > 0)) return {};
  const double edge = view.evidence->semiangle / view.evidence->sampling.wavelength;
  constexpr Index reach = 4;
  double largest = 0;
  const auto count = static_cast<Index>(view.medians.size());
  const auto level = [&](Index ring) { return view.medians[static_cast<std::size_t>(ring)]; };
  for (Index ring = 1; ring + 1 < count; ++ring) {
    if (static_cast<double>(ring) * view.rings.width() <= edge) continue;
    if (level(ring) < level(ring - 1) || level(ring) < level(ring + 1)) continue;  // no peak
    std::vector<double> around;
    for (Index other = std::max<Index>(1, ring - reach); other <= std::min(count - 1, ring + reach); ++other)
      around.push_back(level(other));
    const double middle = median(std::move(around));
    if (middle > 0) largest = std::max(largest, level(ring) / middle);
  }
  return largest;
}

Symptom streaking(const View& view) {
  if (view.phase.rows < smallest_view || view.phase.cols < smallest_view || !finite(view.phase)) return {};
  double down = 0, across = 0;
  for (Index row = 0; row + 1 < view.phase.rows; ++row)
    for (Index col = 0; col + 1 < view.phase.cols; ++col) {
      down += std::abs(wrapped(view.phase(row + 1, col) - view.phase(row, col)));
      across += std::abs(wrapped(view.phase(row, col + 1) - view.phase(row, col)));
    }
  if (!(down > 0) || !(across > 0)) return {};
  // Per length, not per pixel.
  return std::abs(std::log2(across / view.evidence->sampling.pixel_col() * view.evidence->sampling.pixel_row() / down));
}

Symptom spectral_line(const View& view) {
  if (!has_spectrum(view)) return {};
  constexpr Index low = 3;  // rings that hold the shape of the whole view
  const auto along = [&](bool rows) {
    std::vector<double> ratios;
    const Index n = rows ? view.power.rows : view.power.cols;
    for (Index i = 0; i < n; ++i) {
      const Index row = rows ? i : 0, col = rows ? 0 : i;
      const Index ring = view.rings.ring_at(row, col);
      if (ring < low || ring >= view.rings.count()) continue;
      const double level = view.medians[static_cast<std::size_t>(ring)];
      if (level > 0) ratios.push_back(view.power(row, col) / level);
    }
    return median(std::move(ratios));
  };
  return std::max(along(true), along(false));
}

Symptom checkerboard(const View& view) {
  if (!has_spectrum(view)) return {};
  const Index rows = view.power.rows, cols = view.power.cols;
  double sum = 0;
  for (const auto& [row, col] : {std::pair{rows / 2, Index{0}}, {Index{0}, cols / 2}, {rows / 2, cols / 2}})
    for (Index i = -1; i <= 1; ++i)
      for (Index j = -1; j <= 1; ++j) sum += view.power(cyclic(row + i, rows), cyclic(col + j, cols));
  return sum / total(view.power);
}

Symptom raster_grid(const View& view) {
  if (!has_spectrum(view)) return {};
  const std::optional<Lattice> b = raster(view.state().positions);
  if (!b) return {};
  double grid = 0;
  for (const auto& [h, k] : low_orders) {
    const Point at{h * b->first.row + k * b->second.row, h * b->first.col + k * b->second.col};
    if (!below_nyquist(at)) continue;
    const double excess = peak_power(view.power, at) - usual_power(view.power, *b, at);
    grid += 2 * std::max(0.0, excess);  // and as much at the inverse
  }
  return std::sqrt(grid / total(view.power));
}

Symptom phase_wrap(const View& view) {
  if (!finite(view.phase)) return {};
  double largest = 0;
  for (Index row = 0; row < view.phase.rows; ++row)
    for (Index col = 0; col < view.phase.cols; ++col) {
      if (row > 0) largest = std::max(largest, std::abs(view.phase(row, col) - view.phase(row - 1, col)));
      if (col > 0) largest = std::max(largest, std::abs(view.phase(row, col) - view.phase(row, col - 1)));
    }
  return largest;
}

Symptom blurring(const View& view) {
  if (view.evidence->earlier == nullptr || !has_spectrum(view)) return {};
  const Image before = phase_image(*view.evidence->earlier, view.box);
  if (!finite(before)) return {};
  constexpr double high = 0.5;
  const double then = power_above(before, high);
  if (!(then > 0)) return {};
  return 1 - power_above(view.phase, high) / then;
}

}  // namespace sonde::ptycho::symptom
