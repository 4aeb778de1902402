// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/timepix/timepix_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/io/feed.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/stem/timepix/clusters.h"
#include "sonde/instruments/stem/timepix/event_store.h"
#include "sonde/instruments/stem/timepix/record_reader.h"
#include "sonde/instruments/stem/timepix/scan_clock.h"
#include "sonde/instruments/stem/timepix/time_order.h"

namespace sonde::stem {
namespace {

constexpr std::size_t file_block_bytes = std::size_t{2} << 20, file_blocks = 3;
// So much of the file goes through all steps before the next: its hits stay in the cache.
constexpr std::size_t piece_bytes = std::size_t{256} << 10;
constexpr std::size_t rate_bins = 128;

/// Hits by time in bins that become twice as long when there are too many of them.
class RateCurve {
 public:
  void add(std::span<const Hit> hits) {
    if (hits.empty()) return;
    if (counts_.empty()) first_ = hits.front().time;
    for (const Hit& hit : hits) {
      auto bin = static_cast<std::size_t>(hit.time - first_) >> shift_;
      while (bin >= rate_bins) {
        halve();
        bin >>= 1;
      }
      if (bin >= counts_.size()) counts_.resize(bin + 1);
      ++counts_[bin];
    }
  }
  [[nodiscard]] HitRate rate() && {
    return {static_cast<double>(Ticks{1} << shift_) / static_cast<double>(ticks_per_s), std::move(counts_)};
  }

 private:
  void halve() {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const std::uint64_t count = std::exchange(counts_[i], 0);
      counts_[i / 2] += count;
    }
    counts_.resize((counts_.size() + 1) / 2);
    ++shift_;
  }
  Ticks first_ = 0;
  int shift_ = 10;  // 1.6 us
  std::vector<std::uint64_t> counts_;
};

ScanClock clock_of(const ScanTiming& timing, const TimepixOptions& options) {
  const auto [rows, cols] = options.scan_asked();
  const double dwell = options.dwell_s() * fine_ticks_per_s;
  // Decimal fractions of a second are whole numbers of fine ticks more often than a double shows: 1 us is 3840.
  const double near = std::round(dwell);
  const double exact = std::abs(dwell - near) <= 4 * std::numeric_limits<double>::epsilon() * near ? near : dwell;
  if (timing.by_lines)
    return ScanClock::by_lines(rows, cols, exact,
                               static_cast<FineTicks>(std::llround(options.delay_s() * fine_ticks_per_s)));
  return ScanClock::steady(rows, cols, exact, timing.start);
}

Ticks in_ticks(double s) { return static_cast<Ticks>(std::llround(s * static_cast<double>(ticks_per_s))); }

/// Where electrons in the order of time go.
class Placing {
 public:
  Placing(ScanClock clock, Index positions, Index rows, Index cols)
      : clock_(std::move(clock)),
        offsets_(Array::zeros(Device::cpu(), {positions + 1}, DType::u64)),
        pattern_(Array::zeros(Device::cpu(), {rows, cols}, DType::u64)) {}

  ScanClock& clock() { return clock_; }

  void place(std::span<const Electron> electrons, TimepixEvents& result) {
    const auto counts = offsets_.view<std::uint64_t, 1>();
    std::uint64_t* const pattern = pattern_.view<std::uint64_t, 2>().data;
    for (const Electron& electron : electrons) {
      ++result.of_hits[std::min<std::size_t>(electron.hits, result.of_hits.size()) - 1];
      const Index position = clock_.at(electron.time * fine_per_tick);
      if (position >= 0) {
        ++counts(position + 1);
        ++pattern[electron.pixel];
        store_.add(electron.pixel);
      } else if (position == ScanClock::before) {
        ++result.before;
      } else if (position == ScanClock::flyback) {
        ++result.flyback;
      } else {
        ++result.after;
      }
    }
    result.electrons += electrons.size();
  }

  void finish(TimepixEvents& result) {
    const auto sums = offsets_.view<std::uint64_t, 1>();
    for (Index p = 1; p < offsets_.count(); ++p) sums(p) += sums(p - 1);
    result.offsets = std::move(offsets_);
    result.pattern = std::move(pattern_);
    result.index = store_.finish();
    result.frames = Array::zeros(Device::cpu(), {result.offsets.count() - 1}, DType::u32);
    std::fill_n(result.frames.view<std::uint32_t, 1>().data, result.reached, 1U);
  }

 private:
  ScanClock clock_;
  Array offsets_, pattern_;
  EventStore store_;
};

/// When edges of the channel that the scan follows were, and when anything was.
struct Times {
  std::optional<FineTicks> first_trigger, last_trigger;
  std::uint64_t triggers = 0;
  std::optional<FineTicks> first, last;

  void saw(FineTicks time) {
    first = std::min(first.value_or(time), time);
    last = std::max(last.value_or(time), time);
  }
  void saw_trigger(FineTicks time) {
    if (!first_trigger) first_trigger = time;
    last_trigger = time;
    ++triggers;
  }
};

double seconds_between(FineTicks a, FineTicks b) { return static_cast<double>(b - a) / fine_ticks_per_s; }

}  // namespace

MemoryPlan plan_events(const ChipLayout& layout, const TimepixOptions& options) {
  MemoryPlan plan;
  const auto [scan_rows, scan_cols] = options.scan_asked();
  const auto positions = static_cast<std::size_t>(scan_rows * scan_cols);
  const auto pixels = static_cast<std::size_t>(layout.rows() * layout.cols());
  plan.add("blocks of the file", file_blocks * file_block_bytes, "read ahead");
  plan.add("hits that wait for earlier ones", 2 * TimeOrder::most_hits * sizeof(Hit), "at most 2^22, twice");
  if (options.cluster_s() > 0)
    plan.add("latest hits", Clusterer::bytes(layout.rows(), layout.cols()), "16 bytes for each pixel");
  plan.add("sum pattern", pixels * sizeof(std::uint64_t), "8 bytes for each pixel");
  plan.add("positions", positions * 12, "12 bytes for each position");
  for (const MemoryPlan::Line& line : plan.lines) plan.peak_bytes += line.bytes;
  return plan;
}

TimepixEvents find_events(const std::string& path, const ChipLayout& layout, const ScanTiming& timing,
                          const TimepixOptions& options, Budget budget) {
  const Reservation room = budget.reserve(plan_events(layout, options).peak_bytes, "events by position",
                                          "give a smaller " + setting("scan_shape") + " or more " + setting("memory"));
  TimepixEvents result;
  std::tie(result.scan_rows, result.scan_cols) = options.scan_asked();
  result.rows = layout.rows();
  result.cols = layout.cols();
  result.timing = timing;
  const File file(path);
  file.advise(Advice::sequential);
  std::uint64_t read = 0;
  Feed<std::vector<std::byte>> feed(
      std::vector<std::vector<std::byte>>(file_blocks), [&](std::vector<std::byte>& bytes) {
        if (read == file.size()) return false;
        bytes.resize(static_cast<std::size_t>(std::min<std::uint64_t>(file_block_bytes, file.size() - read)));
        file.read_at(read, bytes);
        read += bytes.size();
        return true;
      });
  const std::unique_ptr<HitReader> reader = open_hits(path, layout, options.damage);
  PacketBlock block;
  TimeOrder order;
  Clusterer clusters(result.rows, result.cols, in_ticks(options.cluster_s()));
  Placing placing(clock_of(timing, options), result.scan_rows * result.scan_cols, result.rows, result.cols);
  RateCurve rate;
  Times times;
  std::vector<Electron> electrons;
  const Ticks reorder = in_ticks(options.reorder_s());

  const auto give = [&](Ticks now) {
    electrons.clear();
    clusters.give(now, electrons);
    placing.place(electrons, result);
  };
  // With a negative delay a line begins before its edge, which has to be known.
  const Ticks lead = timing.by_lines ? in_ticks(std::max(0.0, -options.delay_s())) : 0;
  const auto release = [&](Ticks until, Ticks behind) {
    order.release(until - behind, until);
    for (const TdcEdge& edge : order.edges()) {
      times.saw(edge.time);
      if (!timing.channel || edge.channel != *timing.channel) continue;
      times.saw_trigger(edge.time);
      if (timing.by_lines) placing.clock().begin_line(edge.time);
    }
    const std::span<const Hit> hits(order.hits());
    if (!hits.empty()) {
      times.saw(hits.front().time * fine_per_tick);
      times.saw(hits.back().time * fine_per_tick);
    }
    rate.add(hits);
    clusters.take(hits);
    if (!hits.empty()) give(hits.back().time);
  };

  {
    ProgressMeter progress("reading hits", static_cast<Index>(file.size() / 8), "words");
    while (auto bytes = feed.next()) {
      check_interrupt();
      for (std::span<const std::byte> left = *bytes; !left.empty();) {
        const std::span<const std::byte> piece = left.first(std::min(piece_bytes, left.size()));
        left = left.subspan(piece.size());
        block.clear();
        reader->take(piece, block);
        order.add(block);
        release(reader->latest().value_or(0) - reorder, lead);
      }
      progress.advance(static_cast<Index>(bytes->size() / 8));
    }
  }
  reader->finish();
  if (reader->latest()) release(*reader->latest() + 1, 0);
  result.stray_hits = order.waiting();
  give(std::numeric_limits<Ticks>::max());

  result.packets = reader->counts();
  result.late_hits = order.late_hits();
  result.late_edges = order.late_edges();
  result.cut = clusters.cut();
  result.rate = std::move(rate).rate();
  if (times.last) {
    result.duration_s = seconds_between(*times.first, *times.last);
    const FineTicks start = timing.by_lines ? times.first_trigger.value_or(*times.last) : timing.start;
    result.after_start_s = seconds_between(start, *times.last);
    result.reached = placing.clock().reached(*times.last);
  }
  result.trigger_edges = times.triggers;
  if (times.triggers > 1)
    result.line_s =
        seconds_between(*times.first_trigger, *times.last_trigger) / static_cast<double>(times.triggers - 1);
  placing.finish(result);
  return result;
}

}  // namespace sonde::stem
