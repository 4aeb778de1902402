// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "sonde/instruments/stem/timepix/packets.h"

namespace sonde::stem {

/// Makes one time without wraps of the counters of a file, which start again at 0 after different periods. Words come
/// nearly in order: of all times that a counter may stand for, the one is taken that lies after the latest time, or up
/// to a second before it. So a gap without any word may be a second shorter than the longest period of the counters
/// that come after it: 25.8 s for hits, 106 s for edges, 81 days for global time.
///
/// Time is that of the first word: where hits come first, the first 26.8 s are counted from 0. One damaged word does
/// not move the clock: a jump of more than a second needs a second word that agrees with it.
class WrapClock {
 public:
  /// A second: how far words may be out of order, and how near two words must be to agree.
  static constexpr Ticks slack = ticks_per_s;

  [[nodiscard]] bool started() const { return started_; }
  /// The latest time so far that can be trusted.
  [[nodiscard]] Ticks latest() const { return latest_; }

  [[nodiscard]] Ticks hit(std::uint64_t stored) {
    if (!started_) start(static_cast<Ticks>(stored));
    const Ticks time = unwrapped<hit_bits>(latest_, stored, 0);
    if (time - latest_ >= slack) return far<hit_bits>(time, stored, 0, Proposer::hit);
    advance(time);
    if (proposer_ == Proposer::hit) proposer_ = Proposer::none;
    return time;
  }
  /// Without the fine part.
  [[nodiscard]] Ticks edge(std::uint64_t stored) { return other<edge_bits>(stored, edge_shift_); }
  void global_low(std::uint64_t stored) {
    low_ = stored;
    (void)other<edge_bits>(stored << 4, low_shift_);
  }
  /// Counts with the low word before it.
  void global_high(std::uint64_t stored) {
    if (low_) (void)other<global_bits>((stored << 32 | *low_) << 4, high_shift_);
  }

 private:
  enum class Proposer { none, hit, other };
  // Damaged words could add up to any time; this is more than four years.
  static constexpr Ticks end_of_time = Ticks{1} << 57;

  /// The time from slack before `after` on that is stored + shift modulo the period.
  template <int bits>
  static Ticks unwrapped(Ticks after, std::uint64_t stored, Ticks shift) {
    const Ticks from = after - slack;
    constexpr std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    return from + static_cast<Ticks>((stored - static_cast<std::uint64_t>(from + shift)) & mask);
  }
  void start(Ticks time) {
    started_ = true;
    latest_ = time;
  }
  /// A time a second or more after the latest one.
  template <int bits>
  Ticks far(Ticks time, std::uint64_t stored, Ticks shift, Proposer proposer) {
    if (proposer_ != Proposer::none) {
      const Ticks near = unwrapped<bits>(proposed_, stored, shift);
      if (near - proposed_ < slack && near < end_of_time) {
        proposer_ = Proposer::none;
        advance(std::max(near, proposed_));
        return near;
      }
    }
    proposer_ = proposer;
    proposed_ = std::min(time, end_of_time);
    return proposed_;
  }
  /// A counter whose period is longer than that of hits: what it shows when the clock is at 0 is found at first use.
  template <int bits>
  Ticks other(std::uint64_t stored, std::optional<Ticks>& shift) {
    if (!started_) start(static_cast<Ticks>(stored));
    if (!shift) shift = static_cast<Ticks>(stored) - unwrapped<hit_bits>(latest_, stored, 0);
    const Ticks time = unwrapped<bits>(latest_, stored, *shift);
    if (time - latest_ >= slack) return far<bits>(time, stored, *shift, Proposer::other);
    advance(time);
    return time;
  }
  void advance(Ticks time) { latest_ = std::clamp(time, latest_, end_of_time); }

  bool started_ = false;
  Ticks latest_ = 0;
  Proposer proposer_ = Proposer::none;
  Ticks proposed_ = 0;
  std::optional<Ticks> edge_shift_, low_shift_, high_shift_;
  std::optional<std::uint64_t> low_;
};

}  // namespace sonde::stem
