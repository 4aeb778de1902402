// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/grains.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/report/progress.h"

namespace sonde::stem {
namespace {

constexpr double radians_per_degree = std::numbers::pi / 180;
constexpr double no_angle = std::numeric_limits<double>::quiet_NaN();
constexpr Index positions_together = 256;
constexpr int most_rounds = 20;  // of a mean: two or three are usual

std::size_t member_at(Index position) { return static_cast<std::size_t>(position); }

/// Sets that are joined; the name of a set is its smallest member.
class GrainSets {
 public:
  explicit GrainSets(std::size_t members) : parent_(members) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t of(std::size_t member) {
    while (parent_[member] != member) member = parent_[member] = parent_[parent_[member]];
    return member;
  }
  void join(std::size_t a, std::size_t b) {
    const std::size_t of_a = of(a), of_b = of(b);
    parent_[std::max(of_a, of_b)] = std::min(of_a, of_b);
  }

 private:
  std::vector<std::size_t> parent_;
};

/// The neighbour to the right (0) or below (1), where there is one.
std::optional<Index> neighbour(Index position, int side, Index rows, Index cols) {
  if (side == 0) return position % cols + 1 < cols ? std::optional(position + 1) : std::nullopt;
  return position / cols + 1 < rows ? std::optional(position + cols) : std::nullopt;
}

/// The first orientation of a position and the second.
std::array<const Orientation*, 2> orientations_of(const PatternMatch& found) {
  if (found.matches.empty()) return {};
  const OrientationMatch& best = found.matches[0];
  return {&best.orientation, best.other ? &*best.other : nullptr};
}

/// Which orientations of a position and its neighbour are near each other: bit 2 a + b for a of the one and b of the
/// other.
using Links = std::array<std::vector<std::uint8_t>, 2>;

Links links_between(std::span<const PatternMatch> matches, Index rows, Index cols, const std::vector<Mat3>& proper,
                    double angle) {
  Links links;
  for (auto& side : links) side.resize(matches.size());
  ProgressMeter progress("grains", rows * cols, "positions");
  parallel_for(rows * cols, positions_together, [&](Index from, Index to, Worker&) {
    for (Index here = from; here < to; ++here)
      for (int side = 0; side < 2; ++side) {
        const std::optional<Index> there = neighbour(here, side, rows, cols);
        if (!there) continue;
        const auto ours = orientations_of(matches[member_at(here)]),
                   theirs = orientations_of(matches[member_at(*there)]);
        unsigned near = 0;
        for (unsigned a = 0; a < 2; ++a)
          for (unsigned b = 0; b < 2; ++b)
            if (ours[a] != nullptr && theirs[b] != nullptr && misorientation(*ours[a], *theirs[b], proper) < angle)
              near |= 1U << (2 * a + b);
        links[static_cast<std::size_t>(side)][member_at(here)] = static_cast<std::uint8_t>(near);
      }
    progress.advance(to - from);
  });
  return links;
}

bool linked(const Links& links, Index here, int side, unsigned a, unsigned b) {
  return (links[static_cast<std::size_t>(side)][member_at(here)] >> (2 * a + b) & 1U) != 0;
}

/// What speaks for a set of orientations, the strongest first.
struct Support {
  Index certain = 0;  ///< positions with only one orientation
  Index first = 0;    ///< positions of which it is the first, those too
  Index all = 0;
};

/// Of every position which of its orientations is kept, and why.
struct Kept {
  std::vector<std::uint8_t> number;  ///< 0: the first, 1: the second
  std::vector<Settled> settled;
};

Kept settle(std::span<const PatternMatch> matches, Index rows, Index cols, const Links& links) {
  // Member 2 position + number is an orientation.
  GrainSets sets(2 * matches.size());
  for (Index here = 0; here < rows * cols; ++here)
    for (int side = 0; side < 2; ++side)
      if (const std::optional<Index> there = neighbour(here, side, rows, cols))
        for (unsigned a = 0; a < 2; ++a)
          for (unsigned b = 0; b < 2; ++b)
            if (linked(links, here, side, a, b)) sets.join(2 * member_at(here) + a, 2 * member_at(*there) + b);
  std::vector<Support> support(2 * matches.size());
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const auto here = orientations_of(matches[i]);
    for (std::size_t a = 0; a < 2; ++a) {
      if (here[a] == nullptr) continue;
      Support& of = support[sets.of(2 * i + a)];
      ++of.all;
      if (here[1] == nullptr) ++of.certain;
      if (a == 0) ++of.first;
    }
  }
  Kept kept{std::vector<std::uint8_t>(matches.size()), std::vector<Settled>(matches.size(), Settled::one)};
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (orientations_of(matches[i])[1] == nullptr) continue;
    const std::size_t first = sets.of(2 * i), second = sets.of(2 * i + 1);
    // Which is the first of more positions proves nothing: what makes one pattern prefer the wrong one, intensities
    // that are not kinematic, is the same all over a grain. But all positions of a grain have to take the same.
    const auto strength = [&](std::size_t set) {
      return std::tuple(support[set].certain, support[set].first, support[set].all, -static_cast<Index>(set));
    };
    const bool exchanged = strength(second) > strength(first);
    kept.number[i] = exchanged ? 1 : 0;
    kept.settled[i] = support[first].certain == support[second].certain ? Settled::open
                      : exchanged                                       ? Settled::exchanged
                                                                        : Settled::kept;
  }
  return kept;
}

/// Numbers of the grains that links between kept orientations make, from 1, and the positions of each.
std::vector<std::vector<Index>> members_of(std::span<const PatternMatch> matches, Index rows, Index cols,
                                           const Links& links, const Kept& kept, Index smallest) {
  GrainSets sets(matches.size());
  for (Index here = 0; here < rows * cols; ++here)
    for (int side = 0; side < 2; ++side)
      if (const std::optional<Index> there = neighbour(here, side, rows, cols);
          there && linked(links, here, side, kept.number[member_at(here)], kept.number[member_at(*there)]))
        sets.join(member_at(here), member_at(*there));
  std::vector<std::vector<Index>> members(matches.size());
  for (Index here = 0; here < rows * cols; ++here)
    if (!matches[member_at(here)].matches.empty()) members[sets.of(member_at(here))].push_back(here);
  std::erase_if(members, [&](const auto& each) { return each.empty() || static_cast<Index>(each.size()) < smallest; });
  std::stable_sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return members;
}

/// The turn (by an axis and an angle in a quaternion's parts) from `mean` to the equal one of `orientation` nearest it.
std::array<double, 4> turn_from(const Orientation& mean, const Orientation& orientation,
                                const std::vector<Mat3>& proper) {
  const Mat3 both = times(orientation, transposed(mean));
  Mat3 nearest = both;
  for (const Mat3& turn : proper)
    if (const Mat3 equal = times(turn, both); trace(equal) > trace(nearest)) nearest = equal;
  const double w = std::sqrt(std::max(0.0, 1 + trace(nearest))) / 2;
  if (w < 1e-6) return {};  // half a turn, about either end of its axis
  return {w, (nearest[2][1] - nearest[1][2]) / (4 * w), (nearest[0][2] - nearest[2][0]) / (4 * w),
          (nearest[1][0] - nearest[0][1]) / (4 * w)};
}

Orientation mean_orientation(std::span<const PatternMatch> matches, const std::vector<Index>& members,
                             const std::vector<Mat3>& proper) {
  Orientation mean = matches[member_at(members.front())].matches[0].orientation;
  for (int round = 0; round < most_rounds; ++round) {
    double total[4] = {};
    for (const Index member : members) {
      const auto turn = turn_from(mean, matches[member_at(member)].matches[0].orientation, proper);
      for (std::size_t i = 0; i < 4; ++i) total[i] += turn[i];
    }
    const Vec3 axis{total[1], total[2], total[3]};
    const double sine = length(axis);
    if (!(sine > 1e-12 * total[0])) break;
    mean = times(turn_about(scaled(1 / sine, axis), 2 * std::atan2(sine, total[0])), mean);
  }
  return mean;
}

Grain grain_of(std::span<const PatternMatch> matches, const std::vector<Index>& members, Index cols,
               const std::vector<Mat3>& proper, std::vector<double>& from_mean) {
  Grain grain{.mean = mean_orientation(matches, members, proper),
              .positions = static_cast<Index>(members.size()),
              .standard_error = no_angle};
  const auto count = static_cast<double>(members.size());
  for (const Index member : members) {
    grain.row += static_cast<double>(member / cols) / count;
    grain.col += static_cast<double>(member % cols) / count;
    const double angle = misorientation(matches[member_at(member)].matches[0].orientation, grain.mean, proper);
    from_mean[member_at(member)] = angle;
    grain.spread += angle * angle / count;
  }
  const double independent = count > 1 ? grain.spread / (count - 1) : 0;
  double stated = 0, known = 0;
  for (const Index member : members)
    if (const auto& refined = matches[member_at(member)].matches[0].refined) {
      const double error = refined->standard_error();
      if (!std::isfinite(error)) continue;
      stated += error * error;
      ++known;
    }
  if (known > 0)
    grain.standard_error = std::sqrt(independent + std::max(0.0, stated / known - count * independent));
  else if (count > 1)
    grain.standard_error = std::sqrt(independent);
  grain.spread = std::sqrt(grain.spread);
  return grain;
}

/// The largest misorientation of every position to its neighbours.
std::vector<double> boundaries(std::span<const PatternMatch> matches, Index rows, Index cols,
                               const std::vector<Mat3>& proper) {
  std::array<std::vector<double>, 2> between;
  for (auto& side : between) side.assign(matches.size(), no_angle);
  parallel_for(rows * cols, positions_together, [&](Index from, Index to, Worker&) {
    for (Index here = from; here < to; ++here)
      for (int side = 0; side < 2; ++side)
        if (const std::optional<Index> there = neighbour(here, side, rows, cols))
          if (const auto& ours = matches[member_at(here)].matches, &theirs = matches[member_at(*there)].matches;
              !ours.empty() && !theirs.empty())
            between[static_cast<std::size_t>(side)][member_at(here)] =
                misorientation(ours[0].orientation, theirs[0].orientation, proper);
  });
  std::vector<double> largest(matches.size(), no_angle);
  for (Index here = 0; here < rows * cols; ++here)
    for (int side = 0; side < 2; ++side)
      if (const std::optional<Index> there = neighbour(here, side, rows, cols))
        for (const Index each : {here, *there})
          largest[member_at(each)] =
              std::fmax(largest[member_at(each)], between[static_cast<std::size_t>(side)][member_at(here)]);
  return largest;
}

}  // namespace

Index GrainMap::count(Settled what) const { return std::count(settled.begin(), settled.end(), what); }

GrainMap find_grains(std::span<PatternMatch> matches, Index rows, Index cols, const std::vector<Mat3>& proper,
                     const GrainOptions& options) {
  GrainMap map;
  if (options.angle <= 0) return map;
  const Links links = links_between(matches, rows, cols, proper, options.angle * radians_per_degree);
  Kept kept = settle(matches, rows, cols, links);
  for (std::size_t i = 0; i < matches.size(); ++i)
    if (kept.number[i] != 0) matches[i].matches[0].exchange();
  map.grain.assign(matches.size(), 0);
  map.from_mean.assign(matches.size(), no_angle);
  for (const std::vector<Index>& members : members_of(matches, rows, cols, links, kept, options.size)) {
    map.grains.push_back(grain_of(matches, members, cols, proper, map.from_mean));
    for (const Index member : members) map.grain[member_at(member)] = static_cast<std::int32_t>(map.grains.size());
  }
  map.boundary = boundaries(matches, rows, cols, proper);
  map.settled = std::move(kept.settled);
  return map;
}

std::size_t grain_bytes(Index positions) {
  // The lists of the map, and while grains are found links, sets of orientations and what speaks for them, and members.
  return static_cast<std::size_t>(positions) *
         (sizeof(std::int32_t) + 2 * sizeof(double) + 4 + 2 * (sizeof(std::size_t) + sizeof(Support)) +
          sizeof(std::size_t) + sizeof(std::vector<Index>) + sizeof(Index));
}

}  // namespace sonde::stem
