// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/image/mask_set.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "sonde/instruments/stem/image/frame_lanes.h"
#include "sonde/instruments/stem/image/mask_set_kernels.h"

namespace sonde::stem {
namespace {

// Pixels whose lines are made at a time. Those of 256 stay in the first-level cache; with several groups more pixels
// share the loads of a group's sums, and the lines stay in the second-level cache.
constexpr Index one_group_chunk = 256, chunk = 2048;

// Nanoseconds of one thread for each frame of u16 (AMD EPYC), which only choose between two ways to the same integers.
constexpr double per_run_ns = 3, per_masked_pixel_ns = 0.06, per_line_ns = 0.06, per_addition_ns = 0.06;

/// A sum over 32 bits never wraps within as many pixels.
template <class T>
constexpr Index most_pixels = sizeof(T) == 4 ? std::numeric_limits<Index>::max()
                                             : Index{0xFFFFFFFF} / Index{std::numeric_limits<T>::max()};

template <class To>
To* room_for(std::vector<std::uint64_t>& room, Index count) {
  const std::size_t words = (static_cast<std::size_t>(count) * sizeof(To) + 7) / 8;
  if (room.size() < words) room.resize(words);
  return reinterpret_cast<To*>(room.data());
}

Index runs_of(const Mask& mask) {
  Index runs = 0, before = -2;
  for (const Index pixel : mask.pixels) {
    runs += pixel == before + 1 ? 0 : 1;
    before = pixel;
  }
  return runs;
}

}  // namespace

/// The regions of some masks; 0 is that of pixels in none.
class MaskSet::Builder {
 public:
  explicit Builder(Index pixels) : region_(static_cast<std::size_t>(pixels), 0), members_(1), size_{pixels} {}

  /// Divides the regions by a mask unless they would be too many. A first mask is always taken.
  bool add(const Mask& mask, std::uint32_t number) {
    std::vector<Index> inside(members_.size(), 0);
    for (const Index pixel : mask.pixels) ++inside[region_[static_cast<std::size_t>(pixel)]];
    Index made = 0;
    for (std::size_t r = 0; r < inside.size(); ++r) made += inside[r] > 0 && (r == 0 || inside[r] < size_[r]) ? 1 : 0;
    if (static_cast<Index>(members_.size()) - 1 + made > most_regions) return false;
    std::vector<std::uint16_t> becomes(inside.size());
    for (std::size_t r = 0; r < inside.size(); ++r) {
      becomes[r] = static_cast<std::uint16_t>(r);
      if (inside[r] == 0) continue;
      if (r == 0 || inside[r] < size_[r]) {
        becomes[r] = static_cast<std::uint16_t>(members_.size());
        members_.push_back(members_[r]);
        size_.push_back(inside[r]);
        size_[r] -= inside[r];
      }
      members_[becomes[r]].push_back(number);
    }
    for (const Index pixel : mask.pixels) {
      std::uint16_t& region = region_[static_cast<std::size_t>(pixel)];
      region = becomes[region];
    }
    any_ = true;
    return true;
  }

  [[nodiscard]] bool any() const { return any_; }

  [[nodiscard]] Group finish(Index chunk_pixels) const {
    Group group;
    const auto pixels = static_cast<Index>(region_.size());
    Index additions = 0, repeated = 0;
    for (std::size_t q = 0; q < region_.size(); ++q) {
      additions += region_[q] > 0 ? 1 : 0;
      repeated += q > 0 && region_[q] > 0 && region_[q] == region_[q - 1] ? 1 : 0;
    }
    group.copies = 8 * repeated > additions ? 2 : 1;
    group.additions.reserve(static_cast<std::size_t>(additions));
    for (Index q = 0; q < pixels; ++q) {
      if (const auto region = static_cast<Index>(region_[static_cast<std::size_t>(q)]); region > 0) {
        const Index slot = group.copies * (region - 1) + static_cast<Index>(group.additions.size()) % group.copies;
        group.additions.push_back({static_cast<std::uint16_t>(q % chunk_pixels), static_cast<std::uint16_t>(slot)});
      }
      if ((q + 1) % chunk_pixels == 0 || q + 1 == pixels) group.ends.push_back(group.additions.size());
    }
    group.first.push_back(0);
    for (std::size_t r = 1; r < members_.size(); ++r) {
      group.of_masks.insert(group.of_masks.end(), members_[r].begin(), members_[r].end());
      group.first.push_back(static_cast<std::uint32_t>(group.of_masks.size()));
    }
    return group;
  }

 private:
  std::vector<std::uint16_t> region_;                // (pixel)
  std::vector<std::vector<std::uint32_t>> members_;  // (region) its masks
  std::vector<Index> size_;                          // (region) its pixels
  bool any_ = false;
};

MaskSet MaskSet::prepare(std::span<const Mask> masks) {
  MaskSet set;
  set.masks_ = static_cast<Index>(masks.size());
  if (masks.empty()) return set;
  set.pixels_ = masks.front().rows * masks.front().cols;
  std::vector<Builder> builders(1, Builder(set.pixels_));
  for (std::size_t i = 0; i < masks.size(); ++i) {
    const auto number = static_cast<std::uint32_t>(i);
    if (builders.back().add(masks[i], number)) continue;
    builders.emplace_back(set.pixels_);
    (void)builders.back().add(masks[i], number);
  }
  set.chunk_ = builders.size() == 1 ? one_group_chunk : chunk;
  for (const Builder& builder : builders) set.groups_.push_back(builder.finish(set.chunk_));
  for (const Group& group : set.groups_) {
    set.additions_ += static_cast<Index>(group.additions.size());
    set.slots_ += group.slots();
  }
  double one_by_one = 0;
  for (const Mask& mask : masks)
    one_by_one +=
        per_run_ns * static_cast<double>(runs_of(mask)) + per_masked_pixel_ns * static_cast<double>(mask.area());
  set.pays_ = masks.size() > 1 && one_by_one > per_line_ns * static_cast<double>(set.pixels_) +
                                                   per_addition_ns * static_cast<double>(set.additions_);
  return set;
}

template <class Sum>
void MaskSet::hand_on(const Group& group, Sum* sums, std::uint64_t* to) const {
  for (Index region = 0; region < group.regions(); ++region) {
    const auto r = static_cast<std::size_t>(region);
    for (std::uint32_t m = group.first[r]; m < group.first[r + 1]; ++m)
      for (Index copy = 0; copy < group.copies; ++copy)
        cpu::add_sums(sums + (group.copies * region + copy) * lanes,
                      to + static_cast<Index>(group.of_masks[m]) * lanes);
  }
  std::fill_n(sums, group.regions() * group.copies * lanes, Sum{0});
}

template <class T>
void MaskSet::run(const T* const* frames, Scratch& scratch, std::uint64_t* sums) const {
  static_assert(lanes == cpu::frame_lanes);
  using Sum = cpu::LaneSum<T>;
  std::fill_n(sums, masks_ * lanes, std::uint64_t{0});
  using Line = cpu::shuffled<T>;
  Line* const lines = room_for<Line>(scratch.lines, chunk_ * lanes);
  Sum* const partial = room_for<Sum>(scratch.sums, slots_ * lanes);
  std::fill_n(partial, slots_ * lanes, Sum{0});
  const auto for_groups = [&](auto&& body) {
    Sum* of_group = partial;
    for (const Group& group : groups_) {
      body(group, of_group);
      of_group += group.slots() * lanes;
    }
  };
  Index since = 0;
  for (Index first = 0, c = 0; first < pixels_; first += chunk_, ++c) {
    const Index last = std::min(first + chunk_, pixels_);
    if (since + (last - first) > most_pixels<T>) {
      for_groups([&](const Group& group, Sum* of_group) { hand_on(group, of_group, sums); });
      since = 0;
    }
    since += last - first;
    bool turned = false;
    for_groups([&](const Group& group, Sum* of_group) {
      const std::span<const LineAddition> additions = group.of_chunk(c);
      if (additions.empty()) return;
      if (!turned) cpu::turn_lines(frames, first, last, lines);
      turned = true;
      cpu::add_lines(lines, additions.data(), static_cast<Index>(additions.size()), of_group);
    });
  }
  for_groups([&](const Group& group, Sum* of_group) { hand_on(group, of_group, sums); });
}

template void MaskSet::run(const std::uint8_t* const*, Scratch&, std::uint64_t*) const;
template void MaskSet::run(const std::uint16_t* const*, Scratch&, std::uint64_t*) const;
template void MaskSet::run(const std::uint32_t* const*, Scratch&, std::uint64_t*) const;

}  // namespace sonde::stem
