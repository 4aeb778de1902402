// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sonde/instruments/stem/image/mask.h"

namespace sonde::stem {

/// The line of a pixel, and the sum that it is added to.
struct LineAddition {
  std::uint16_t pixel, slot;
};

/// Boolean masks of one detector whose sums over a frame are taken together. Pixels that belong to the same masks are
/// one region; a pixel is added to the sum of its region, and the sum of a mask is that of its regions, in integers:
/// exact. Masks are put into groups of at most most_regions regions, in their order: disjoint masks share a group and
/// cost about one addition per pixel, whatever their number; masks at random have seven in a group. Each addition is
/// one vector of eight frames. Const access is thread-safe.
class MaskSet {
 public:
  /// The sums of as many regions stay in the first-level cache.
  static constexpr Index most_regions = 128;

  /// Frames that are summed at a time.
  static constexpr Index lanes = 8;

  /// All masks are boolean and have the same rows and cols.
  [[nodiscard]] static MaskSet prepare(std::span<const Mask> masks);

  [[nodiscard]] Index masks() const { return masks_; }
  [[nodiscard]] Index groups() const { return static_cast<Index>(groups_.size()); }
  /// Additions for each frame.
  [[nodiscard]] Index additions() const { return additions_; }
  /// Whether the masks take less time together than one after another by masked_sum().
  [[nodiscard]] bool pays() const { return pays_; }

  /// What run() works in: one for each thread.
  struct Scratch {
    std::vector<std::uint64_t> lines, sums;
  };

  /// sums(mask, k) of `lanes` frames of rows * cols elements. T is u8, u16 or u32. Reads every frame once.
  template <class T>
  void run(const T* const* frames, Scratch& scratch, std::uint64_t* sums) const;

 private:
  struct Group {
    Index copies = 1;                     // of the sums of each region: neighbours take them in turns
    std::vector<LineAddition> additions;  // by pixel
    std::vector<std::size_t> ends;        // (chunk): where its additions end
    std::vector<std::uint32_t> first;     // (region + 1): where its masks begin
    std::vector<std::uint32_t> of_masks;  // the masks of the regions
    [[nodiscard]] Index regions() const { return static_cast<Index>(first.size()) - 1; }
    [[nodiscard]] Index slots() const { return regions() * copies; }
    [[nodiscard]] std::span<const LineAddition> of_chunk(Index c) const {
      const auto i = static_cast<std::size_t>(c);
      const std::size_t begin = i == 0 ? 0 : ends[i - 1];
      return std::span(additions).subspan(begin, ends[i] - begin);
    }
  };
  class Builder;

  template <class Sum>
  void hand_on(const Group& group, Sum* sums, std::uint64_t* to) const;

  Index masks_ = 0, pixels_ = 0, chunk_ = 0, additions_ = 0, slots_ = 0;
  bool pays_ = false;
  std::vector<Group> groups_;
};

}  // namespace sonde::stem
