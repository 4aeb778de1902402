// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/timepix/time_order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>

namespace sonde::stem {
namespace {

constexpr int digit_bits = 11;
constexpr std::size_t digits = std::size_t{1} << digit_bits;

bool earlier(const Hit& a, const Hit& b) { return a.time < b.time; }

/// The time that about half of them are before; every one of equal times.
Ticks past_half(const std::vector<Hit>& hits) {
  std::vector<Ticks> times;
  times.reserve(hits.size());
  for (const Hit& hit : hits) times.push_back(hit.time);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle + 1;
}

Ticks tick_of(const TdcEdge& edge) {  // rounded down
  return (edge.time - (edge.time % fine_per_tick + fine_per_tick) % fine_per_tick) / fine_per_tick;
}

/// Moves what is before `until` from one list to the other, and drops what is before `released`.
template <class T, class TimeOf>
void split_off(std::vector<T>& waiting, std::vector<T>& ready, Ticks released, Ticks until, std::uint64_t& late,
               TimeOf time_of) {
  std::size_t kept = 0;
  for (const T& one : waiting) {
    const Ticks time = time_of(one);
    if (time >= until)
      waiting[kept++] = one;
    else if (time < released)
      ++late;
    else
      ready.push_back(one);
  }
  waiting.resize(kept);
}

}  // namespace

TimeOrder::TimeOrder(std::size_t most_waiting)
    : most_waiting_(most_waiting),
      released_hits_(std::numeric_limits<Ticks>::min()),
      released_edges_(std::numeric_limits<Ticks>::min()) {}

void sort_by_time(std::vector<Hit>& hits, std::vector<Hit>& scratch) {
  if (std::is_sorted(hits.begin(), hits.end(), earlier)) return;
  const auto [first, last] = std::minmax_element(hits.begin(), hits.end(), earlier);
  const Ticks base = first->time;
  const auto range = static_cast<std::uint64_t>(last->time - base);
  scratch.resize(hits.size());
  for (int shift = 0; shift < static_cast<int>(std::bit_width(range)); shift += digit_bits) {
    const auto digit = [&](const Hit& hit) {
      return static_cast<std::size_t>(static_cast<std::uint64_t>(hit.time - base) >> shift) & (digits - 1);
    };
    std::array<std::size_t, digits + 1> place{};
    for (const Hit& hit : hits) ++place[digit(hit) + 1];
    for (std::size_t i = 1; i <= digits; ++i) place[i] += place[i - 1];
    for (const Hit& hit : hits) scratch[place[digit(hit)]++] = hit;
    hits.swap(scratch);
  }
}

void TimeOrder::add(const PacketBlock& block) {
  waiting_hits_.insert(waiting_hits_.end(), block.hits.begin(), block.hits.end());
  waiting_edges_.insert(waiting_edges_.end(), block.edges.begin(), block.edges.end());
}

void TimeOrder::release(Ticks hits_until, Ticks edges_until) {
  if (waiting_hits_.size() > most_waiting_) hits_until = std::max(hits_until, past_half(waiting_hits_));
  if (waiting_edges_.size() > most_waiting_)
    for (const TdcEdge& edge : waiting_edges_) edges_until = std::max(edges_until, tick_of(edge) + 1);
  hits_until = std::max(hits_until, released_hits_);
  edges_until = std::max(edges_until, released_edges_);
  hits_.clear();
  edges_.clear();
  split_off(waiting_hits_, hits_, released_hits_, hits_until, late_hits_, [](const Hit& hit) { return hit.time; });
  split_off(waiting_edges_, edges_, released_edges_, edges_until, late_edges_, tick_of);
  sort_by_time(hits_, scratch_);
  std::stable_sort(edges_.begin(), edges_.end(), [](const TdcEdge& a, const TdcEdge& b) { return a.time < b.time; });
  released_hits_ = hits_until;
  released_edges_ = edges_until;
}

}  // namespace sonde::stem
