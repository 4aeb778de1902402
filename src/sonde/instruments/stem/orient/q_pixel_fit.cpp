// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/q_pixel_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <utility>

namespace sonde::stem {
namespace {

constexpr double bin_width = 0.1;                                 // px
constexpr std::array<double, 3> place_errors = {0.25, 0.5, 1.0};  // px, of a distance
constexpr double widest = 4;                                      // standard errors of a line that are drawn
constexpr double longest_line = 4;                                // 1/A
constexpr double most_lattice_points = 3e4;                       // of the reciprocal lattice
constexpr double size_step = 1e-3;   // of candidates; 0.1 px at 100 px, less than the smallest error of a place
constexpr Index first_lines = 12;    // one of which is the innermost ring
constexpr double same_size = 0.015;  // sizes that differ by less are one
// Of random grains of gold, iron, silicon and magnesium 99 % are on their lines, and the second size has at most 0.7 of
// the best one's gain; of the others' lines it is 0.4 to 0.7 of the disks, or a gain of 0.75 to 0.98 of the best one's.
constexpr double least_share = 0.75;
constexpr double as_good = 0.75;
constexpr double hardly_seen = 0.1;  // of the disks that a line should have
constexpr Index least_disks = 10;
constexpr Index block_side = 8;  // of the scan: parts whose scatter gives the error

struct Distance {
  double pixels = 0;
  Index block = 0;
};

/// Reflections of one length, where they are in a pattern.
struct Line {
  double length = 0;  ///< 1/A, in projection
  double strength = 0;
};

std::vector<Distance> distances_of(const BraggVectors& vectors, const DiskOrigins& origins) {
  const double shortest = std::max(2.0, vectors.probe_radius);
  std::vector<Distance> distances;
  for (Index position = 0; position < vectors.positions(); ++position) {
    const auto here = static_cast<std::size_t>(position);
    if (vectors.valid[here] == 0 || origins.measured.valid[here] == 0) continue;
    const Index row = position / vectors.scan_cols, col = position % vectors.scan_cols;
    const Origin::At from = origins.at(row, col);
    const Index block = row * block_side / vectors.scan_rows * block_side + col * block_side / vectors.scan_cols;
    for (auto i = static_cast<std::size_t>(vectors.first(position)); i < vectors.offsets[here + 1]; ++i) {
      const double far =
          std::hypot(static_cast<double>(vectors.qx[i]) - from.x, static_cast<double>(vectors.qy[i]) - from.y);
      if (far > shortest && vectors.intensity[i] > 0) distances.push_back({far, block});
    }
  }
  return distances;
}

/// A reflection is excited at a mean distance from the plane across the beam, which shortens its projection.
std::vector<Line> lines_of(const Crystal& crystal, const KinematicBeam& beam, double& last) {
  last = std::min(longest_line, std::cbrt(most_lattice_points * 3 / (4 * std::numbers::pi * crystal.cell.volume())));
  std::vector<Line> lines;
  double of_last = -1;
  for (const Reflection& each : list_reflections(crystal, last)) {
    const double lift = beam.wavelength * each.length * each.length / 2, spread = beam.sigma_excitation_error;
    const double across = each.length * each.length - lift * lift - spread * spread;
    if (across <= 0) continue;
    if (of_last < 0 || each.length > of_last * (1 + 1e-6)) lines.push_back({std::sqrt(across), 0});
    of_last = each.length;
    // The share of all orientations in which it is excited, and how easily it is then seen.
    lines.back().strength += std::sqrt(std::abs(each.factor)) / each.length;
  }
  return lines;
}

/// How well sizes of a pixel explain a histogram of distances.
class SizeSearch {
 public:
  SizeSearch(std::span<const Distance> distances, std::vector<Line> lines) : lines_(std::move(lines)) {
    low_ = std::min_element(distances.begin(), distances.end(), shorter)->pixels - bin_width;
    double high = low_;
    for (const Distance& each : distances) high = std::max(high, each.pixels);
    counts_.resize(static_cast<std::size_t>((high - low_) / bin_width) + 2);
    for (const Distance& each : distances) counts_[static_cast<std::size_t>((each.pixels - low_) / bin_width)] += 1;
    total_ = static_cast<double>(distances.size());
    density_.resize(counts_.size());
  }

  struct Fit {
    double size = 0, gain = 0, share = 0, place_error = 0;
  };

  /// The gain is the mean logarithm of the likelihood of a disk over that of one that may be anywhere.
  [[nodiscard]] Fit at(double size) {
    Fit best{.size = size};
    for (const double error : place_errors) {
      draw(size, error);
      double share = 0.8, gain = 0;
      for (int step = 0; step < 8; ++step) {
        double on_lines = 0;
        gain = 0;
        for (std::size_t i = 0; i < counts_.size(); ++i) {
          if (counts_[i] <= 0) continue;
          const double likelihood = share * density_[i] + 1 - share;
          on_lines += counts_[i] * share * density_[i] / likelihood;
          gain += counts_[i] * std::log(likelihood);
        }
        share = std::clamp(on_lines / total_, 1e-3, 1 - 1e-3);
      }
      if (gain / total_ > best.gain) best = {size, gain / total_, share, error};
    }
    return best;
  }

 private:
  static bool shorter(const Distance& a, const Distance& b) { return a.pixels < b.pixels; }

  /// The density of all lines in the histogram's range, 1 in the mean.
  void draw(double size, double error) {
    std::fill(density_.begin(), density_.end(), 0.0);
    for (const Line& line : lines_) {
      const double middle = (line.length / size - low_) / bin_width - 0.5, width = error / bin_width;
      const double from = std::max(0.0, std::ceil(middle - widest * width)),
                   to = std::min(static_cast<double>(density_.size()) - 1, std::floor(middle + widest * width));
      for (double i = from; i <= to; ++i)
        density_[static_cast<std::size_t>(i)] +=
            line.strength * std::exp(-(i - middle) * (i - middle) / (2 * width * width));
    }
    double sum = 0;
    for (const double value : density_) sum += value;
    if (sum > 0)
      for (double& value : density_) value *= static_cast<double>(density_.size()) / sum;
  }

  std::vector<Line> lines_;
  double low_ = 0, total_ = 0;
  std::vector<double> counts_, density_;
};

double at_share(std::vector<double> values, double share) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

std::size_t nearest_line(const std::vector<Line>& lines, double length) {
  const auto above = std::lower_bound(lines.begin(), lines.end(), length,
                                      [](const Line& line, double value) { return line.length < value; });
  if (above == lines.begin()) return 0;
  const auto next = static_cast<std::size_t>(above - lines.begin());
  if (above == lines.end()) return next - 1;
  return length - lines[next - 1].length < lines[next].length - length ? next - 1 : next;
}

/// Standard error of a slope with equal weights, from the pulls of groups whose members err together.
double error_of_groups(const std::vector<double>& pulls, double squares) {
  double total = 0, groups = 0;
  for (const double pull : pulls) {
    total += pull * pull;
    groups += pull != 0 ? 1 : 0;
  }
  return groups > 1 ? std::sqrt(total * groups / (groups - 1)) / squares : 0;
}

/// The share of the strength of the lines in reach that is of lines with hardly a disk.
double missing_share(const std::vector<Line>& lines, const std::vector<double>& counts, double from, double to) {
  double strength = 0, disks = 0, missing = 0;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].length >= from && lines[i].length <= to) {
      strength += lines[i].strength;
      disks += counts[i];
    }
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].length >= from && lines[i].length <= to &&
        counts[i] < hardly_seen * disks * lines[i].strength / strength)
      missing += lines[i].strength;
  return strength > 0 ? missing / strength : 1;
}

/// The least-squares size of the disks within three errors of a line. Disks of a part of the scan err together, as they
/// are of one grain, and disks of a line, as these are not quite where their mean excitation has them: the error is the
/// larger one of these groups.
void refine_size(std::span<const Distance> distances, const std::vector<Line>& lines, double place_error,
                 QPixelFit& fit) {
  std::vector<double> counts;
  double nearest_disk = 0, farthest_disk = 0;
  for (int round = 0; round < 4; ++round) {
    struct Used {
      Index block;
      std::size_t line;
      double pixels;
    };
    std::vector<Used> used;
    double both = 0, squares = 0;
    for (const Distance& each : distances) {
      const std::size_t line = nearest_line(lines, each.pixels * fit.value);
      if (std::abs(lines[line].length - each.pixels * fit.value) > 3 * place_error * fit.value) continue;
      both += each.pixels * lines[line].length;
      squares += each.pixels * each.pixels;
      used.push_back({each.block, line, each.pixels});
    }
    if (used.empty()) return;
    fit.value = both / squares;
    std::vector<double> of_blocks(static_cast<std::size_t>(block_side * block_side)), of_lines(lines.size());
    counts.assign(lines.size(), 0);
    nearest_disk = farthest_disk = used.front().pixels;
    for (const Used& each : used) {
      const double pull = each.pixels * (lines[each.line].length - each.pixels * fit.value);
      of_blocks[static_cast<std::size_t>(each.block)] += pull;
      of_lines[each.line] += pull;
      counts[each.line] += 1;
      nearest_disk = std::min(nearest_disk, each.pixels);
      farthest_disk = std::max(farthest_disk, each.pixels);
    }
    fit.standard_error = std::max(error_of_groups(of_blocks, squares), error_of_groups(of_lines, squares));
  }
  const double around = 3 * place_error;
  fit.missing = missing_share(lines, counts, (nearest_disk - around) * fit.value, (farthest_disk + around) * fit.value);
}

}  // namespace

std::string QPixelFit::because() const {
  return fmt::format("{:.0f} % of {} disks are on the crystal's lines; standard error {:.1e} 1/A", 100 * share, disks,
                     standard_error);
}

QPixelFit fit_q_pixel(const BraggVectors& vectors, const DiskOrigins& origins, const Crystal& crystal,
                      const KinematicBeam& beam) {
  QPixelFit fit;
  const std::vector<Distance> distances = distances_of(vectors, origins);
  fit.disks = static_cast<Index>(distances.size());
  if (fit.disks < least_disks) {
    fit.refused = fmt::format("there are {} disks beside the direct beam, and {} are needed", fit.disks, least_disks);
    return fit;
  }
  double last = 0;
  const std::vector<Line> lines = lines_of(crystal, beam, last);
  std::vector<double> pixels;
  for (const Distance& each : distances) pixels.push_back(each.pixels);
  const double farthest = at_share(pixels, 1);
  const auto few = static_cast<std::size_t>(std::min<Index>(first_lines, static_cast<Index>(lines.size())));
  const double from = lines.front().length / at_share(pixels, 0.5),
               to = std::min(lines[few - 1].length / at_share(pixels, 0.02), last / farthest);
  SizeSearch search(distances, lines);
  std::vector<SizeSearch::Fit> fits;
  for (double size = from; size <= to; size *= 1 + size_step) fits.push_back(search.at(size));
  const auto less = [](const SizeSearch::Fit& a, const SizeSearch::Fit& b) { return a.gain < b.gain; };
  if (fits.empty()) {
    fit.refused = "no size of a pixel has the innermost disks on the crystal's first lines";
    return fit;
  }
  const SizeSearch::Fit best = *std::max_element(fits.begin(), fits.end(), less);
  SizeSearch::Fit second;
  for (const SizeSearch::Fit& each : fits)
    if (std::abs(std::log(each.size / best.size)) > same_size) second = std::max(second, each, less);
  fit.value = best.size;
  fit.share = best.share;
  if (best.gain <= 0 || best.share < least_share)
    fit.refused =
        fmt::format("no size puts more than {:.0f} % of the disks on lines of {}: another crystal, or several",
                    100 * best.share, crystal.name);
  else if (second.gain > as_good * best.gain)
    fit.refused = fmt::format("{:.5g} and {:.5g} 1/A put the disks on lines of {} equally well", best.size, second.size,
                              crystal.name);
  refine_size(distances, lines, best.place_error, fit);
  return fit;
}

}  // namespace sonde::stem
