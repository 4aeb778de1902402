// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/calibrate/ring_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <numeric>
#include <string_view>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/file.h"
#include "sonde/instruments/stem/orient/reflections.h"

namespace sonde::stem {
namespace {

constexpr double stands_out = 5;            // standard errors of a bin
constexpr std::size_t strongest_tried = 4;  // peaks that are taken for every line
constexpr double tolerance = 0.012;         // of a radius: between lines, and more than rings err once they are round
constexpr double strong = 0.2;              // of the strongest line in reach
constexpr double nearly = 0.85;             // of the best score
constexpr double other_size = 0.01;
constexpr Index fewest = 3;
constexpr double near_px = 3, near_strength = 0.05;  // of a line that merges with another, or moves its peak
constexpr double strong_ring = 0.3;  // of the highest: other substances have some lines in common, never all

std::vector<Line> lines_of_crystal(const std::string& path, double k_max) {
  const std::vector<Reflection> reflections = list_reflections(read_crystal(path), k_max);
  std::vector<Line> lines;
  for (const Reflection& each : reflections) {
    const double strength = std::norm(each.factor);
    if (lines.empty() || each.length - lines.back().length > 1e-4 * each.length) {
      Miller hkl = each.hkl;
      for (int& index : hkl) index = std::abs(index);
      std::sort(hkl.rbegin(), hkl.rend());
      lines.push_back({each.length, strength, fmt::format("{}{}{}", hkl[0], hkl[1], hkl[2])});
    } else {
      lines.back().strength += strength;
    }
  }
  return lines;
}

std::vector<Line> lines_of_list(const std::string& path, double k_max) {
  std::vector<Line> lines;
  Index number = 0;
  for (const std::string& text : split(read_text(path), '\n')) {
    ++number;
    const std::string_view line = trim(text);
    if (line.empty() || line.front() == '#') continue;
    double spacing = 0, multiplicity = 1;
    const auto [end, problem] = std::from_chars(line.data(), line.data() + line.size(), spacing);
    if (problem != std::errc() || !(spacing > 0 && spacing < 1e4))
      throw Error(ErrorKind::bad_file, fmt::format("{}:{}: \"{}\"; expected a spacing above 0 in A", path, number,
                                                   std::string(line.substr(0, 40))))
          .hint("give a CIF file, or a list of spacings: D # (h, k, l) MULTIPLICITY");
    std::string name;
    const std::size_t open = line.find('('), close = line.find(')');
    if (open != std::string_view::npos && close != std::string_view::npos && open < close) {
      for (const char c : line.substr(open + 1, close - open - 1))
        if (c != ',' && c != ' ') name += c;
      const std::string_view rest = trim(line.substr(close + 1));
      (void)std::from_chars(rest.data(), rest.data() + rest.size(), multiplicity);
      if (!(multiplicity > 0 && multiplicity < 1e6)) multiplicity = 1;
    }
    if (1 / spacing <= k_max) lines.push_back({1 / spacing, multiplicity, std::move(name)});
  }
  std::ranges::sort(lines, {}, &Line::length);
  return lines;
}

/// Each value becomes the mean of itself and its neighbours, 1 : 2 : 1.
std::vector<double> smoothed(const std::vector<double>& values) {
  std::vector<double> made = values;
  for (std::size_t i = 1; i + 1 < values.size(); ++i) made[i] = (values[i - 1] + 2 * values[i] + values[i + 1]) / 4;
  return made;
}
constexpr double error_of_smoothed = 0.6124;  // sqrt(1 + 4 + 1) / 4

/// How far a maximum rises above the higher of the minima on its two sides, before something higher.
double prominence(const std::vector<double>& values, std::size_t peak) {
  double left = values[peak], right = values[peak];
  for (std::size_t i = peak; i-- > 0 && values[i] <= values[peak];) left = std::min(left, values[i]);
  for (std::size_t i = peak + 1; i < values.size() && values[i] <= values[peak]; ++i)
    right = std::min(right, values[i]);
  return values[peak] - std::max(left, right);
}

}  // namespace

std::vector<double> ring_background(const std::vector<double>& profile, double width) {
  const Index widest = std::max<Index>(3, static_cast<Index>(std::lround(6 / width)));
  const auto count = static_cast<Index>(profile.size());
  std::vector<double> levels;
  // On this scale large and small peaks are alike. Each value becomes at most the mean of those m to either side, m
  // from wide to narrow.
  for (const double value : smoothed(profile))
    levels.push_back(std::log1p(std::log1p(std::sqrt(std::max(0.0, value) + 1))));
  std::vector<double> clipped = levels;
  for (Index m = widest; m >= 1; --m) {
    for (Index i = m; i < count - m; ++i) {
      const auto at = [&](Index j) { return levels[static_cast<std::size_t>(j)]; };
      clipped[static_cast<std::size_t>(i)] = std::min(at(i), 0.5 * (at(i - m) + at(i + m)));
    }
    levels = clipped;
  }
  for (double& level : levels) {
    const double root = std::expm1(std::expm1(level));
    level = root * root - 1;
  }
  return levels;
}

namespace {

struct Fit {
  double q_pixel = 0, score = -1e300;
};

/// Index of the line nearest to a length.
std::size_t nearest(const std::vector<Line>& lines, double length) {
  const auto above = std::ranges::lower_bound(lines, length, {}, &Line::length);
  if (above == lines.begin()) return 0;
  if (above == lines.end()) return lines.size() - 1;
  const auto i = static_cast<std::size_t>(above - lines.begin());
  return length - lines[i - 1].length < lines[i].length - length ? i - 1 : i;
}

double weight_of(const RingPeak& peak) { return std::sqrt(std::max(0.0, peak.height)); }

/// Near enough to a line, or between it and another that it has merged with.
bool on_line(const RingPeak& peak, const std::vector<Line>& lines, std::size_t index, double q_pixel) {
  const double length = peak.radius * q_pixel, off = length - lines[index].length;
  if (std::abs(off) <= tolerance * lines[index].length + 2 * peak.error * q_pixel) return true;
  if (off > 0) return index + 1 < lines.size() && lines[index + 1].length - lines[index].length < near_px * q_pixel;
  return index > 0 && lines[index].length - lines[index - 1].length < near_px * q_pixel;
}

/// Whether a line, or one that it merges with, has a peak.
bool has_peak(const std::vector<RingPeak>& peaks, const std::vector<Line>& lines, std::size_t index, double q_pixel) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (std::abs(lines[i].length - lines[index].length) >= near_px * q_pixel) continue;
    const auto is_its = [&](const RingPeak& peak) {
      return nearest(lines, peak.radius * q_pixel) == i && on_line(peak, lines, i, q_pixel);
    };
    if (std::ranges::any_of(peaks, is_its)) return true;
  }
  return false;
}

/// Strength of the lines in reach that have no peak, over that of all in reach.
double missing_of(const std::vector<RingPeak>& peaks, const std::vector<Line>& lines, double q_pixel, double inner,
                  double outer) {
  double all = 0, missing = 0, largest = 0;
  const auto in_reach = [&](const Line& line) {
    const double radius = line.length / q_pixel;
    return radius > inner + 2 && radius < outer - 2;
  };
  for (const Line& line : lines)
    if (in_reach(line)) largest = std::max(largest, line.strength);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!in_reach(lines[i]) || lines[i].strength < strong * largest) continue;
    const double weight = std::sqrt(lines[i].strength);
    all += weight;
    if (!has_peak(peaks, lines, i, q_pixel)) missing += weight;
  }
  return all > 0 ? missing / all : 1;
}

double score_of(const std::vector<RingPeak>& peaks, const std::vector<Line>& lines, double q_pixel, double inner,
                double outer) {
  double on = 0, all = 0;
  for (const RingPeak& peak : peaks) {
    all += weight_of(peak);
    const std::size_t index = nearest(lines, peak.radius * q_pixel);
    if (!on_line(peak, lines, index, q_pixel)) continue;
    const double off = (peak.radius * q_pixel - lines[index].length) / (tolerance * lines[index].length);
    on += weight_of(peak) * std::exp(-0.5 * off * off);
  }
  return on / all - missing_of(peaks, lines, q_pixel, inner, outer);
}

/// The highest peak that is on no line; -1: all are.
Index highest_off(const std::vector<RingPeak>& peaks) {
  Index highest = -1;
  for (std::size_t i = 0; i < peaks.size(); ++i)
    if (peaks[i].line < 0 && (highest < 0 || peaks[i].height > peaks[static_cast<std::size_t>(highest)].height))
      highest = static_cast<Index>(i);
  return highest;
}

/// Whether no other line is so near that it moves the peak.
bool clear(const std::vector<Line>& lines, std::size_t index, double q_pixel) {
  const Line& line = lines[index];
  return std::ranges::none_of(lines, [&](const Line& other) {
    return &other != &line && std::abs(other.length - line.length) < near_px * q_pixel &&
           other.strength > near_strength * line.strength;
  });
}

/// Least squares through the peaks on lines that are clear, with those far from theirs left out in later rounds.
void refine(std::vector<RingPeak>& peaks, const std::vector<Line>& lines, RingScale& scale) {
  const bool only_clear = std::ranges::count_if(peaks, [&](const RingPeak& peak) {
                            const std::size_t index = nearest(lines, peak.radius * scale.q_pixel);
                            return on_line(peak, lines, index, scale.q_pixel) && clear(lines, index, scale.q_pixel);
                          }) >= 2;
  double scatter = 0;
  for (int round = 0; round < 5; ++round) {
    double above = 0, below = 0, squares = 0;
    Index count = 0;
    scale.matched = 0;
    for (RingPeak& peak : peaks) {
      const std::size_t index = nearest(lines, peak.radius * scale.q_pixel);
      const double off = peak.radius * scale.q_pixel - lines[index].length;
      peak.line = -1;
      if (!on_line(peak, lines, index, scale.q_pixel)) continue;
      peak.line = static_cast<Index>(index);
      ++scale.matched;
      if (only_clear && !clear(lines, index, scale.q_pixel)) continue;
      if (round > 1 && std::abs(off) > std::max(3 * scatter, 1e-3 * lines[index].length)) continue;
      above += lines[index].length * peak.radius;
      below += peak.radius * peak.radius;
      squares += off * off;
      ++count;
    }
    if (count == 0) return;
    scale.q_pixel = above / below;
    scatter = count > 1 ? std::sqrt(squares / static_cast<double>(count - 1)) : 0;
    scale.standard_error = scatter / std::sqrt(below);
  }
}

}  // namespace

std::vector<Line> read_lines(const std::string& path, double k_max) {
  const std::string lower = to_lower(path);
  std::vector<Line> lines = lower.ends_with(".cif") ? lines_of_crystal(path, k_max) : lines_of_list(path, k_max);
  if (lines.empty())
    throw Error(ErrorKind::bad_file, fmt::format("{}: no line with 1/d up to {:g} 1/A", path, k_max))
        .hint("give a CIF file, or a list of spacings: D # (h, k, l) MULTIPLICITY");
  return lines;
}

std::vector<RingPeak> find_ring_peaks(const std::vector<double>& profile, const std::vector<double>& sigma,
                                      double inner, double width) {
  const auto count = static_cast<Index>(profile.size());
  std::vector<double> filled = profile;
  for (std::size_t i = 0; i < filled.size(); ++i)
    if (!std::isfinite(filled[i])) filled[i] = i == 0 ? 0 : filled[i - 1];
  const std::vector<double> background = ring_background(filled, width), smooth = smoothed(filled);
  std::vector<double> net(filled.size());
  for (std::size_t i = 0; i < net.size(); ++i) net[i] = filled[i] - background[i];
  const auto at = [&](Index i) { return net[static_cast<std::size_t>(i)]; };
  std::vector<RingPeak> peaks;
  for (Index i = 1; i + 1 < count; ++i) {
    const auto here = static_cast<std::size_t>(i);
    if (!std::isfinite(profile[here]) || !(smooth[here] > smooth[here - 1]) || !(smooth[here] >= smooth[here + 1]))
      continue;
    if (!(prominence(smooth, here) > stands_out * std::numbers::sqrt2 * error_of_smoothed * sigma[here])) continue;
    // The top above half of the height on both sides, so that neighbours do not pull it.
    Index first = i, last = i;
    while (first > 0 && at(first - 1) > 0.5 * at(i) && at(first - 1) <= at(first)) --first;
    while (last + 1 < count && at(last + 1) > 0.5 * at(i) && at(last + 1) <= at(last)) ++last;
    const Index reach = std::min(i - first, last - i) + 1;  // the same on both sides
    double sum = 0, moment = 0, variance = 0;
    const double level = 0.5 * at(i);
    for (Index j = std::max<Index>(0, i - reach); j <= std::min(count - 1, i + reach); ++j)
      sum += std::max(0.0, at(j) - level);
    for (Index j = std::max<Index>(0, i - reach); j <= std::min(count - 1, i + reach); ++j)
      moment += std::max(0.0, at(j) - level) * static_cast<double>(j - i) / sum;
    for (Index j = std::max<Index>(0, i - reach); j <= std::min(count - 1, i + reach); ++j) {
      const double part = (static_cast<double>(j - i) - moment) / sum * sigma[static_cast<std::size_t>(j)];
      variance += part * part;
    }
    peaks.push_back({.radius = inner + width * (static_cast<double>(i) + 0.5 + moment),
                     .error = width * std::sqrt(variance),
                     .height = at(i)});
  }
  return peaks;
}

RingScale fit_ring_scale(std::vector<RingPeak>& peaks, const std::vector<Line>& lines, double inner, double outer) {
  RingScale scale;
  if (static_cast<Index>(peaks.size()) < fewest) {
    scale.refused = fmt::format("only {} rings were found; expected {} or more", peaks.size(), fewest);
    return scale;
  }
  std::vector<std::size_t> by_height(peaks.size());
  std::iota(by_height.begin(), by_height.end(), std::size_t{0});
  std::ranges::sort(by_height, [&](std::size_t a, std::size_t b) { return peaks[a].height > peaks[b].height; });
  by_height.resize(std::min(by_height.size(), strongest_tried));
  std::vector<Fit> fits;
  for (const std::size_t peak : by_height)
    for (const Line& line : lines) {
      const double q_pixel = line.length / peaks[peak].radius;
      fits.push_back({q_pixel, score_of(peaks, lines, q_pixel, inner, outer)});
    }
  std::ranges::sort(fits, [](const Fit& a, const Fit& b) { return a.score > b.score; });
  scale.q_pixel = fits.front().q_pixel;
  refine(peaks, lines, scale);
  scale.missing = missing_of(peaks, lines, scale.q_pixel, inner, outer);
  const auto other = std::ranges::find_if(
      fits, [&](const Fit& fit) { return std::abs(fit.q_pixel / scale.q_pixel - 1) > other_size; });
  const Index off = highest_off(peaks);
  if (scale.matched < fewest)
    scale.refused =
        fmt::format("only {} of {} rings are on lines; expected {} or more", scale.matched, peaks.size(), fewest);
  else if (off >= 0 && peaks[static_cast<std::size_t>(off)].height > strong_ring * peaks[by_height.front()].height)
    scale.refused = fmt::format("the strong ring at {:.1f} px is on no line: another substance?",
                                peaks[static_cast<std::size_t>(off)].radius);
  else if (scale.missing > 0.5)
    scale.refused = fmt::format("{:.0f} % of the strong lines have no ring: another substance?", 100 * scale.missing);
  else if (other != fits.end() && fits.front().score > 0 && other->score > nearly * fits.front().score)
    scale.refused =
        fmt::format("{:.4g} 1/A fits nearly as well as {:.4g} 1/A: too few rings", other->q_pixel, scale.q_pixel);
  return scale;
}

}  // namespace sonde::stem
