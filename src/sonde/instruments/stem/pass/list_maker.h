// SPDX-License-Identifier: Apache-2.0
// Private to the room: what one worker makes of frames that are lists of electrons, at a cost for each electron and
// none for the other pixels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sonde/instruments/stem/correct/mask_bit.h"
#include "sonde/instruments/stem/pass/pass.h"

namespace sonde::stem {

/// What becomes of an electron in a stored pixel: the resident pixel that counts it, or one of these. Suspect i is
/// suspect + i.
struct ElectronFate {
  static constexpr std::uint32_t masked = 0xffffffff, cut = 0xfffffffe, suspect = 0x80000000;

  /// (rows * cols), fewer than 2^31.
  static std::vector<std::uint32_t> of_pixels(const PassSettings& settings) {
    const DetectorGrid& grid = settings.detector;
    std::vector<std::uint32_t> fates(static_cast<std::size_t>(grid.pixels()), cut);
    for (Index row = 0; row < std::min(grid.rows, grid.out_rows * grid.bin); ++row)
      for (Index col = 0; col < std::min(grid.cols, grid.out_cols * grid.bin); ++col)
        fates[static_cast<std::size_t>(row * grid.cols + col)] =
            static_cast<std::uint32_t>(row / grid.bin * grid.out_cols + col / grid.bin);
    for (std::size_t i = 0; i < settings.suspects.size(); ++i)
      fates[static_cast<std::size_t>(settings.suspects[i])] = suspect + static_cast<std::uint32_t>(i);
    for (std::size_t pixel = 0; pixel < fates.size(); ++pixel)
      if (mask_bit::is_bad(settings.mask_bits[pixel])) fates[pixel] = masked;
    return fates;
  }
};

/// Collects the electrons of one position after another into the lists of a tile.
class ListMaker {
 public:
  /// The fates are borrowed.
  ListMaker(std::span<const std::uint32_t> fates, Index out_pixels, std::size_t suspects)
      : fates_(fates), counts_(static_cast<std::size_t>(out_pixels)), of_suspects_(suspects) {
    begin();
  }

  /// Begins a tile.
  void begin() {
    first_.assign(1, 0);
    pixel_.clear();
    count_.clear();
  }
  /// Entries of the tile so far.
  [[nodiscard]] std::size_t entries() const { return pixel_.size(); }

  /// Adds the electrons of one stored frame to the position: those of good pixels also to input (pixel; null for none),
  /// those of suspects to suspects. Returns how many are in masked pixels.
  std::uint64_t add(std::span<const std::uint32_t> electrons, std::uint64_t* input, std::uint64_t* suspects) {
    std::uint64_t masked = 0;
    if (touched_.size() < touches_ + electrons.size()) touched_.resize(touches_ + electrons.size());
    for (const std::uint32_t pixel : electrons) {
      const std::uint32_t fate = fates_[pixel];
      if (fate < ElectronFate::suspect) {
        touched_[touches_] = fate;
        touches_ += counts_[fate]++ == 0 ? 1 : 0;
      } else if (fate == ElectronFate::masked) {
        ++masked;
        continue;
      } else if (fate != ElectronFate::cut) {
        const std::uint32_t suspect = fate - ElectronFate::suspect;
        ++suspects[suspect];
        suspects_largest = std::max(suspects_largest, ++of_suspects_[suspect]);
        continue;
      }
      if (input != nullptr) ++input[pixel];
    }
    std::fill(of_suspects_.begin(), of_suspects_.end(), 0);
    return masked;
  }

  /// Ends a position, and returns the largest value of its frame.
  std::uint32_t end() {
    const auto touched = std::span(touched_).first(touches_);
    // Lists of counted frames are ascending already.
    if (!std::is_sorted(touched.begin(), touched.end())) std::sort(touched.begin(), touched.end());
    std::uint32_t largest = 0;
    for (const std::uint32_t pixel : touched) {
      const std::uint32_t count = counts_[pixel];
      counts_[pixel] = 0;
      largest = std::max(largest, count);
      pixel_.push_back(pixel);
      count_.push_back(count);
    }
    touches_ = 0;
    first_.push_back(pixel_.size());
    return largest;
  }

  /// Those of the tile, until it begins again.
  [[nodiscard]] SparseFrames lists() const { return {first_, pixel_, count_}; }

  std::uint32_t suspects_largest = 0;  ///< the largest value of a suspect in any frame

 private:
  std::span<const std::uint32_t> fates_;
  std::vector<std::uint32_t> counts_;       // (resident pixel) of the position
  std::vector<std::uint32_t> of_suspects_;  // of the frame
  std::vector<std::uint32_t> touched_;      // pixels of the position whose counts are not zero
  std::size_t touches_ = 0;
  std::vector<std::size_t> first_;
  std::vector<std::uint32_t> pixel_, count_;
};

}  // namespace sonde::stem
