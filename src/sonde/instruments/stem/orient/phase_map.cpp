// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/phase_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "sonde/engine/base/setting.h"
#include "sonde/engine/device/parallel.h"

namespace sonde::stem {
namespace {

constexpr double no_score = std::numeric_limits<double>::quiet_NaN();
// Of a kernel. A quarter distinguishes gold from iron along [0 0 1], whose cells seem to differ by 0.6 %, more often,
// but with disks half a pixel off 6 % of the decided positions were wrong in place of 1 % (rough: three scans).
constexpr double score_width = 0.5;
constexpr double widest_pair = 4;       // widths: 3e-4 of a pair at one place
constexpr double many_undecided = 0.1;  // of the positions

double percent(Index count, std::size_t of) {
  return of > 0 ? 100 * static_cast<double>(count) / static_cast<double>(of) : 0;
}

/// Of the path of a file its name: "Au" of "crystals/Au.cif"; as it is where two would be the same.
std::vector<std::string> short_names(std::span<const OrientationPlan* const> plans) {
  std::vector<std::string> names;
  for (const OrientationPlan* plan : plans) {
    std::string name = plan->crystal().name.substr(plan->crystal().name.find_last_of('/') + 1);
    if (name.size() > 4 && name.ends_with(".cif")) name.resize(name.size() - 4);
    names.push_back(std::move(name));
  }
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    for (std::size_t k = 0; k < plans.size(); ++k) names[k] = plans[k]->crystal().name;
  return names;
}

/// The best crystal of one position, its scores known.
void decide(PhaseMap& map, std::size_t position) {
  const std::size_t count = map.names.size();
  const double* const scores = map.score.data() + position * count;
  double best = 0, second = 0;
  for (std::size_t k = 0; k < count; ++k) {
    if (!(scores[k] > second)) continue;  // also where there is none
    if (scores[k] > best) {
      second = best;
      best = scores[k];
      map.phase[position] = static_cast<std::int8_t>(k);
    } else {
      second = scores[k];
    }
  }
  if (map.phase[position] >= 0) map.reliability[position] = 100 * (1 - second / best);
}

}  // namespace

double shared_strength(const OrientationPlan& plan, const Orientation& orientation,
                       std::span<const DiffractionPeak> peaks, double width) {
  const std::vector<KinematicSpot> spots = kinematic_pattern(plan.reflections(), orientation, plan.beam());
  struct Pair {
    double term = 0;
    std::size_t peak = 0, spot = 0;
  };
  std::vector<Pair> pairs;
  double measured = 0, computed = 0;
  for (const DiffractionPeak& peak : peaks) measured += peak.intensity;
  for (const KinematicSpot& spot : spots) computed += spot.intensity;
  const double reach = widest_pair * width;
  for (std::size_t i = 0; i < peaks.size(); ++i)
    for (std::size_t j = 0; j < spots.size(); ++j) {
      const double x = spots[j].x - peaks[i].x, y = spots[j].y - peaks[i].y, square = x * x + y * y;
      if (square < reach * reach)
        pairs.push_back(
            {std::sqrt(peaks[i].intensity * spots[j].intensity) * std::exp(-square / (2 * width * width)), i, j});
    }
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
    return std::tie(b.term, a.peak, a.spot) < std::tie(a.term, b.peak, b.spot);
  });
  std::vector<bool> peak_used(peaks.size()), spot_used(spots.size());
  double both = 0;
  for (const Pair& pair : pairs) {
    if (peak_used[pair.peak] || spot_used[pair.spot]) continue;
    peak_used[pair.peak] = spot_used[pair.spot] = true;
    both += pair.term;
  }
  return measured > 0 && computed > 0 ? both / std::sqrt(measured * computed) : 0;
}

Index PhaseMap::positions_of(std::size_t crystal) const {
  Index count = 0;
  for (std::size_t i = 0; i < phase.size(); ++i)
    count += decided(i) && static_cast<std::size_t>(phase[i]) == crystal ? 1 : 0;
  return count;
}

Index PhaseMap::undecided() const {
  Index count = 0;
  for (std::size_t i = 0; i < phase.size(); ++i) count += phase[i] >= 0 && !decided(i) ? 1 : 0;
  return count;
}

std::string PhaseMap::line() const {
  std::string line = "phases    ";
  for (std::size_t k = 0; k < names.size(); ++k)
    line += fmt::format("{} {:.1f} %, ", names[k], percent(positions_of(k), phase.size()));
  const Index none = std::count(phase.begin(), phase.end(), std::int8_t{-1});
  return line + fmt::format("not decided {:.1f} % (two crystals within {:g} %), none {:.1f} %",
                            percent(undecided(), phase.size()), margin, percent(none, phase.size()));
}

Value PhaseMap::to_value() const {
  Value value, list = Value::list();
  for (std::size_t k = 0; k < names.size(); ++k) {
    Value& row = list.push_back(Value::object());
    row["crystal"] = names[k];
    row["positions"] = positions_of(k);
    row["share"] = percent(positions_of(k), phase.size()) / 100;
  }
  value["crystals"] = std::move(list);
  value["not_decided"] = undecided();
  value["margin"] = margin;
  return value;
}

std::vector<std::string> PhaseMap::warnings() const {
  std::vector<std::string> warnings;
  for (std::size_t k = 0; k < names.size(); ++k)
    if (positions_of(k) == 0)
      warnings.push_back(
          fmt::format("{} is found nowhere: at no position does it explain the disks better than the other crystals by "
                      "{:g} % ({})",
                      names[k], margin, setting("crystal")));
  if (static_cast<double>(undecided()) > many_undecided * static_cast<double>(phase.size()))
    warnings.push_back(fmt::format(
        "{:.0f} % of the positions are not decided: two crystals explain their disks equally to {:g} % ({})",
        percent(undecided(), phase.size()), margin, setting("phase_margin")));
  return warnings;
}

PhaseMatches map_phases(std::span<const OrientationPlan* const> plans, std::span<const DiffractionPeak> peaks,
                        std::span<const Index> first, std::vector<std::vector<PatternMatch>> matches, double margin) {
  PhaseMatches made;
  PhaseMap& map = made.phases;
  const std::size_t positions = first.size() - 1;
  map.names = short_names(plans);
  map.margin = margin;
  map.phase.assign(positions, -1);
  map.reliability.assign(positions, no_score);
  map.score.assign(positions * plans.size(), no_score);
  made.matches.resize(positions);
  parallel_for(static_cast<Index>(positions), 64, [&](Index from, Index to, Worker&) {
    for (auto i = static_cast<std::size_t>(from); i < static_cast<std::size_t>(to); ++i) {
      const auto begin = static_cast<std::size_t>(first[i]), end = static_cast<std::size_t>(first[i + 1]);
      for (std::size_t k = 0; k < plans.size(); ++k)
        if (!matches[k][i].matches.empty())
          map.score[i * plans.size() + k] =
              shared_strength(*plans[k], matches[k][i].matches[0].orientation, peaks.subspan(begin, end - begin),
                              score_width * plans[k]->options().corr_kernel_size);
      decide(map, i);
      if (map.phase[i] >= 0) made.matches[i] = std::move(matches[static_cast<std::size_t>(map.phase[i])][i]);
    }
  });
  return made;
}

}  // namespace sonde::stem
