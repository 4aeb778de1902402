// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/lattice/basis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace sonde::stem {
namespace {

constexpr double empty_penalty = 0.25;       // of the mean intensity of a maximum
constexpr double faintest = 0.02;            // of the brightest maximum
constexpr std::size_t most_maxima = 200;     // more are noise
constexpr std::size_t most_candidates = 16;  // shortest maxima that are tried as a vector: 120 pairs
constexpr double least_opening = 0.15;       // sine: vectors nearer to one line are not a pair

constexpr double most_cells = 1024;  // from the origin to the farthest disk

struct Grid {
  double cell = 1;  // px
  Index half = 0, side = 1;
  std::vector<double> values;
  [[nodiscard]] double& at(Index row, Index col) { return values[static_cast<std::size_t>(row * side + col)]; }
};

/// Intensities at whole cells, shared among the four nearest ones, the origin in the middle.
Grid disk_map(std::span<const LatticePeak> disks) {
  double reach = 0;
  for (const LatticePeak& disk : disks) reach = std::max({reach, std::abs(disk.x), std::abs(disk.y)});
  Grid grid;
  grid.cell = std::max(1.0, reach / most_cells);
  grid.half = static_cast<Index>(std::ceil(reach / grid.cell)) + 3;
  grid.side = 2 * grid.half + 1;
  grid.values.assign(static_cast<std::size_t>(grid.side * grid.side), 0);
  for (const LatticePeak& disk : disks) {
    const double x = disk.x / grid.cell + static_cast<double>(grid.half),
                 y = disk.y / grid.cell + static_cast<double>(grid.half);
    const auto col = static_cast<Index>(x), row = static_cast<Index>(y);
    const double across = x - static_cast<double>(col), down = y - static_cast<double>(row);
    grid.at(row, col) += disk.intensity * (1 - down) * (1 - across);
    grid.at(row, col + 1) += disk.intensity * (1 - down) * across;
    grid.at(row + 1, col) += disk.intensity * down * (1 - across);
    grid.at(row + 1, col + 1) += disk.intensity * down * across;
  }
  return grid;
}

/// Convolution with a Gaussian along both axes, zeros outside.
void blur(Grid& grid, double sigma) {
  const auto reach = static_cast<Index>(std::ceil(4 * sigma));
  std::vector<double> kernel;
  for (Index i = -reach; i <= reach; ++i) kernel.push_back(std::exp(-static_cast<double>(i * i) / (2 * sigma * sigma)));
  std::vector<double> line(static_cast<std::size_t>(grid.side));
  for (const auto& [along, across] : {std::pair{Index{1}, grid.side}, std::pair{grid.side, Index{1}}})
    for (Index other = 0; other < grid.side; ++other) {
      double* const start = grid.values.data() + other * across;
      for (Index i = 0; i < grid.side; ++i) {
        double sum = 0;
        for (Index j = std::max<Index>(0, i - reach); j <= std::min(grid.side - 1, i + reach); ++j)
          sum += kernel[static_cast<std::size_t>(j - i + reach)] * start[j * along];
        line[static_cast<std::size_t>(i)] = sum;
      }
      for (Index i = 0; i < grid.side; ++i) start[i * along] = line[static_cast<std::size_t>(i)];
    }
}

/// Place by parabolas through the neighbours.
LatticePeak refined(Grid& grid, Index row, Index col) {
  const double here = grid.at(row, col);
  const auto vertex = [&](double before, double after) {
    const double bend = 4 * here - 2 * before - 2 * after;
    return bend > 0 ? (after - before) / bend : 0;
  };
  return {grid.cell * (static_cast<double>(col - grid.half) + vertex(grid.at(row, col - 1), grid.at(row, col + 1))),
          grid.cell * (static_cast<double>(row - grid.half) + vertex(grid.at(row - 1, col), grid.at(row + 1, col))),
          here};
}

/// Distance from the nearest site.
double miss(const Basis& basis, const LatticePeak& peak) {
  const Coordinates at = coordinates(basis, peak.x, peak.y);
  const double h = at.h - std::round(at.h), k = at.k - std::round(at.k);
  return std::hypot(h * basis.g1_x + k * basis.g2_x, h * basis.g1_y + k * basis.g2_y);
}

/// Sites within `reach` of the origin, without it.
double sites_within(const Basis& basis, double reach) {
  const double area = std::abs(basis.area());
  const auto most = [&](double other_x, double other_y) {
    return static_cast<Index>(std::min(1000.0, std::ceil(reach * std::hypot(other_x, other_y) / area)));
  };
  const Index most_h = most(basis.g2_x, basis.g2_y), most_k = most(basis.g1_x, basis.g1_y);
  double count = -1;
  for (Index h = -most_h; h <= most_h; ++h)
    for (Index k = -most_k; k <= most_k; ++k) {
      const double x = static_cast<double>(h) * basis.g1_x + static_cast<double>(k) * basis.g2_x;
      const double y = static_cast<double>(h) * basis.g1_y + static_cast<double>(k) * basis.g2_y;
      if (std::hypot(x, y) <= reach) ++count;
    }
  return count;
}

struct Score {
  double value = 0, indexed = 0, empty = 0;
};

Score score_of(const Basis& basis, std::span<const LatticePeak> maxima, double tolerance) {
  double total = 0, on_lattice = 0, count = 0, reach = 0;
  for (const LatticePeak& peak : maxima) {
    total += peak.intensity;
    reach = std::max(reach, std::hypot(peak.x, peak.y));
    if (miss(basis, peak) > tolerance) continue;
    on_lattice += peak.intensity;
    ++count;
  }
  const double sites = sites_within(basis, reach + tolerance), empty = std::max(0.0, sites - count);
  const double mean = total / static_cast<double>(maxima.size());
  return {on_lattice - empty_penalty * mean * empty, on_lattice / total, sites > 0 ? empty / sites : 0};
}

/// Least squares of the maxima on the lattice, by intensity; the origin is fixed.
Basis fitted(const Basis& basis, std::span<const LatticePeak> maxima, double tolerance) {
  double hh = 0, hk = 0, kk = 0, hx = 0, kx = 0, hy = 0, ky = 0;
  for (const LatticePeak& peak : maxima) {
    if (miss(basis, peak) > tolerance) continue;
    const Coordinates at = coordinates(basis, peak.x, peak.y);
    const double h = std::round(at.h), k = std::round(at.k), w = peak.intensity;
    hh += w * h * h;
    hk += w * h * k;
    kk += w * k * k;
    hx += w * h * peak.x;
    kx += w * k * peak.x;
    hy += w * h * peak.y;
    ky += w * k * peak.y;
  }
  const double determinant = hh * kk - hk * hk;
  if (!(determinant > 1e-9 * hh * kk)) return basis;
  return {(kk * hx - hk * kx) / determinant, (kk * hy - hk * ky) / determinant, (hh * kx - hk * hx) / determinant,
          (hh * ky - hk * hy) / determinant};
}

}  // namespace

double Basis::shortest() const { return std::min(std::hypot(g1_x, g1_y), std::hypot(g2_x, g2_y)); }

double Basis::opening() const {
  const double lengths = std::hypot(g1_x, g1_y) * std::hypot(g2_x, g2_y);
  return lengths > 0 ? std::abs(area()) / lengths : 0;
}

Coordinates coordinates(const Basis& basis, double x, double y) {
  const double area = basis.area();
  return {(x * basis.g2_y - y * basis.g2_x) / area, (y * basis.g1_x - x * basis.g1_y) / area};
}

Basis reduced(Basis basis) {
  for (int step = 0; step < 100; ++step) {
    if (std::hypot(basis.g2_x, basis.g2_y) < std::hypot(basis.g1_x, basis.g1_y)) {
      std::swap(basis.g1_x, basis.g2_x);
      std::swap(basis.g1_y, basis.g2_y);
    }
    const double along =
        (basis.g1_x * basis.g2_x + basis.g1_y * basis.g2_y) / (basis.g1_x * basis.g1_x + basis.g1_y * basis.g1_y);
    // Just at 1/2 both choices are equally short; rounding must not go to and fro.
    const double whole = std::abs(along) <= 0.5 + 1e-9 ? 0 : std::round(along);
    if (whole == 0) break;
    basis.g2_x -= whole * basis.g1_x;
    basis.g2_y -= whole * basis.g1_y;
  }
  if (basis.g1_x < 0 || (basis.g1_x == 0 && basis.g1_y < 0)) {
    basis.g1_x = -basis.g1_x;
    basis.g1_y = -basis.g1_y;
  }
  if (basis.area() < 0) {
    basis.g2_x = -basis.g2_x;
    basis.g2_y = -basis.g2_y;
  }
  return basis;
}

std::vector<LatticePeak> map_maxima(std::span<const LatticePeak> disks, const BasisSearch& search) {
  if (disks.empty()) return {};
  Grid grid = disk_map(disks);
  blur(grid, std::max(0.5, search.blur / grid.cell));
  const double brightest = *std::max_element(grid.values.begin(), grid.values.end());
  std::vector<LatticePeak> found;
  for (Index row = 1; row + 1 < grid.side; ++row)
    for (Index col = 1; col + 1 < grid.side; ++col) {
      const double here = grid.at(row, col);
      if (!(here > faintest * brightest)) continue;
      // Of two equal neighbours the later one counts.
      const bool highest = here > grid.at(row - 1, col) && here > grid.at(row, col - 1) &&
                           here > grid.at(row - 1, col - 1) && here > grid.at(row - 1, col + 1) &&
                           here >= grid.at(row + 1, col) && here >= grid.at(row, col + 1) &&
                           here >= grid.at(row + 1, col + 1) && here >= grid.at(row + 1, col - 1);
      if (highest) found.push_back(refined(grid, row, col));
    }
  std::stable_sort(found.begin(), found.end(),
                   [](const LatticePeak& a, const LatticePeak& b) { return a.intensity > b.intensity; });
  std::vector<LatticePeak> kept;
  for (const LatticePeak& peak : found) {
    const bool near = std::hypot(peak.x, peak.y) < search.spacing ||
                      std::any_of(kept.begin(), kept.end(), [&](const LatticePeak& other) {
                        return std::hypot(peak.x - other.x, peak.y - other.y) < search.spacing;
                      });
    if (!near) kept.push_back(peak);
    if (kept.size() == most_maxima) break;
  }
  return kept;
}

std::optional<FoundBasis> find_basis(std::span<const LatticePeak> disks, const BasisSearch& search) {
  const std::vector<LatticePeak> maxima = map_maxima(disks, search);
  std::vector<LatticePeak> candidates = maxima;
  std::stable_sort(candidates.begin(), candidates.end(), [](const LatticePeak& a, const LatticePeak& b) {
    return std::hypot(a.x, a.y) < std::hypot(b.x, b.y);
  });
  if (candidates.size() > most_candidates) candidates.resize(most_candidates);
  std::optional<FoundBasis> best;
  double highest = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    for (std::size_t j = i + 1; j < candidates.size(); ++j) {
      const Basis pair{candidates[i].x, candidates[i].y, candidates[j].x, candidates[j].y};
      if (pair.opening() < least_opening) continue;
      // The maxima beside the origin are known to a fraction of a pixel, the far ones only once the lattice fits them.
      const Basis basis = fitted(reduced(pair), maxima, search.tolerance);
      const Score score = score_of(basis, maxima, search.tolerance);
      if (best && score.value <= highest) continue;
      highest = score.value;
      best = {basis, static_cast<Index>(maxima.size()), score.indexed, score.empty};
    }
  if (best) best->basis = reduced(best->basis);
  return best;
}

}  // namespace sonde::stem
